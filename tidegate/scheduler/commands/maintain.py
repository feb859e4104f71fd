"""Maintain: run operations on a table by hand (docs/maintenance.md, "By hand").

It passes schedule, window, conditions, back-off and throttle; not the one-job-per-table rule, the pipelines'
partitions and the slots. What was due stays due.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.model import Operation
from tidegate.domain.part_name import name_of
from tidegate.scheduler.decision.maintenance.rank import Match, counting, matches
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS, TableState, Work
from tidegate.scheduler.model.refused import MaintenanceRefused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.maintenance.by_hand import busy_of, open_by_hand, start_waiting
from tidegate.scheduler.tick.maintenance.end import close_overdue
from tidegate.scheduler.tick.maintenance.policies import Policies, load_policies
from tidegate.scheduler.tick.maintenance.tables import table_named
from tidegate.scheduler.tick.tick import advance_before


def ask_for_health(transaction: EngineTransaction, table: TableState, now: datetime) -> None:
    """Note that a table is to be measured; what was measured before counts until then.

    Raises:
        MaintenanceRefused: E-POLICY, no policy counts for the table: the project of a policy measures.
    """
    if not any(record.counts for record in transaction.records(MAINTENANCE_RECORDS, table=(table.name,))):
        raise MaintenanceRefused(
            "E-POLICY",
            f"no enabled policy configures an operation for table {table.name}, so it is not measured",
            "`tidegate maintenance explain TABLE` shows the policies of a table",
        )
    if table.wanted_at is None:
        transaction.put_records(MAINTAINED_TABLES, [msgspec.structs.replace(table, wanted_at=now)])


Chosen = tuple[Operation, str]
"""An operation, and the policy ("app/policy") whose options count."""


def run_by_hand(
    transaction: EngineTransaction,
    table: str,
    now: datetime,
    *,
    operation: Operation | None = None,
    policy: str | None = None,
    by: By,
) -> tuple[Job, ...]:
    """Run operations on a table, one after the other; without `operation` all that its policies configure.

    Args:
        table: any of its names.
        policy: "app/policy", or its name if only one app has a policy of that name; without it the policy
            that counts for each operation.

    Returns:
        The jobs that were opened: the first one, which runs or waits for a slot; none if the policy has no
        operations.

    Raises:
        MaintenanceRefused: E-TABLE, E-POLICY or E-ACTIVE.
    """
    advance_before(transaction, now)
    # What times out at this instant has ended for the request.
    close_overdue(transaction, now)
    policies = load_policies(transaction, now)
    found, chosen = choose(transaction, policies, table, operation=operation, policy=policy)
    if not chosen:
        return ()
    refuse_active(transaction, policies, found, chosen[0][0], now)
    (first, ref), *rest = chosen
    work = Work(table=found.name, operation=first, policy=ref, by_hand=True, then=tuple(rest))
    opened_by = f"{now.isoformat()} by {by.actor}"
    job = open_by_hand(transaction, work, opened_by, now)
    data = {"action": "maintain", "by": by.actor, "why": by.reason}
    transaction.add_journal(
        [Entry(at=now, kind=EntryKind.STATUS, schedule=job.schedule, job=job.id, data=data)]
    )
    start_waiting(transaction, policies, [job], now)
    return transaction.jobs(ids=(job.id,))


def check_run(reader: EngineReader, table: TableState, now: datetime) -> None:
    """Refuse to run operations on a table for which no enabled policy configures one.

    Raises:
        MaintenanceRefused: E-POLICY.
    """
    choose(reader, load_policies(reader, now), table.name)


def choose(
    reader: EngineReader,
    policies: Policies,
    table: str,
    *,
    operation: Operation | None = None,
    policy: str | None = None,
) -> tuple[TableState, list[Chosen]]:
    """Return a table and the operations that a person asks for, in the order in which they run.

    Raises:
        MaintenanceRefused: E-TABLE or E-POLICY.
    """
    found = table_named(reader, table)
    if found is None:
        raise MaintenanceRefused(
            "E-TABLE", f"no table {table} is known", "`tidegate maintenance tables` shows those that are"
        )
    ranked = matches(policies.policies, found)
    if policy is None:
        best = {each: match for each, match in counting(ranked).items() if operation in (None, each)}
        if not best and (operation is not None or not ranked):
            wanted = "" if operation is None else f" that configures {operation}"
            raise MaintenanceRefused(
                "E-POLICY", f"no enabled policy{wanted} matches table {found.name}", _HINT
            )
        return found, [(each, match.ref) for each, match in best.items()]
    match = _named(policies, ranked, policy, found)
    configured = [each for each in Operation if match.plan(each) is not None]
    if operation is not None and operation not in configured:
        raise MaintenanceRefused("E-POLICY", f"policy {match.ref} does not configure {operation}", _HINT)
    return found, [(each, match.ref) for each in configured if operation in (None, each)]


_HINT = "`tidegate maintenance explain TABLE` shows the policies of a table"


def _named(policies: Policies, ranked: Sequence[Match], policy: str, table: TableState) -> Match:
    refs = [policy] if "/" in policy else list(_refs(policies, policy))
    if not any(ref in policies.policies for ref in refs):
        raise MaintenanceRefused("E-POLICY", f"no policy {policy} is deployed", _HINT)
    if not any(policies.policies[ref].enabled for ref in refs):
        raise MaintenanceRefused(
            "E-POLICY", f"policy {policy} is disabled", "set `enabled: true`, and deploy"
        )
    named = [match for match in ranked if match.ref in refs]
    if not named:
        raise MaintenanceRefused("E-POLICY", f"policy {policy} does not match table {table.name}", _HINT)
    if len(named) > 1:
        apps = " and ".join(match.ref for match in named)
        raise MaintenanceRefused("E-POLICY", f"policy {policy} may be {apps}", "name it with its app")
    return named[0]


def _refs(policies: Policies, name: str) -> Iterator[str]:
    return (ref for ref in policies.policies if name_of(ref) == name)


def refuse_active(
    reader: EngineReader, policies: Policies, table: TableState, operation: Operation, now: datetime
) -> None:
    """Refuse to start an operation on a table whose job runs, or of which pipelines write everything.

    Raises:
        MaintenanceRefused: E-ACTIVE.
    """
    for run in reader.operation_runs(tables=(table.name,), running=True):
        raise MaintenanceRefused(
            "E-ACTIVE",
            f"{run.operation} of policy {run.policy} runs on table {table.name} as job {run.job}",
            "wait for its end, or terminate its run",
        )
    busy = busy_of(reader, policies, table, operation, now)
    if not busy.free:
        jobs = ", ".join(busy.jobs)
        raise MaintenanceRefused(
            "E-ACTIVE", f"pipelines write every partition of {table.name}: {jobs}", "wait for their end"
        )
