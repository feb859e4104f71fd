"""Records: which operations of which policies there are for each table, brought up to date after a change.

A record exists for each operation that an enabled policy configures for a table that it matches, also where
another policy counts. One that ends is removed, and its waiting job is discarded; when it comes back, it has
never run. A running job goes on (docs/maintenance.md, "Due").
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.model import Operation, OperationPlan, Policy
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.decision.maintenance.rank import counting, matches, ruling
from tidegate.scheduler.model.job import WAITING
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS, Record, TableState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import discard_jobs
from tidegate.scheduler.tick.maintenance.policies import Policies

Key = tuple[str, Operation, str]


def update_records(
    transaction: EngineTransaction,
    policies: Policies,
    tables: Sequence[TableState],
    now: datetime,
    before: Mapping[str, Policy] | None = None,
) -> None:
    """Bring the records of some tables up to date, and note whose rules of health count for each table.

    Args:
        before: the policies as they were until now; None if they are the same.
    """
    known = {
        record.key: record
        for record in transaction.records(MAINTENANCE_RECORDS, table={table.name for table in tables})
    }
    seen = _seen(known.values())
    wanted: dict[Key, Record] = {}
    changed: list[TableState] = []
    soon = policies.poll_from(now)
    for table in tables:
        found = () if table.gone else matches(policies.policies, table)
        rules = ruling(found)
        ruled = None if rules is None else rules.ref
        # Nothing decides by what would be measured of a table without policies.
        wanted_at = table.wanted_at if found else None
        # Also without an enabled operation, and so without a record: `at_latest` counts from there.
        history = table.history
        matched = {
            each.ref: history.matched_at.get(each.ref) or seen.get((each.ref, table.name), soon)
            for each in found
        }
        if (ruled, wanted_at, matched) != (table.health_policy, table.wanted_at, history.matched_at):
            history = msgspec.structs.replace(history, matched_at=matched)
            changed.append(
                msgspec.structs.replace(table, health_policy=ruled, wanted_at=wanted_at, history=history)
            )
        counts = {operation: match.ref for operation, match in counting(found).items()}
        for match in found:
            for operation in match.policy.operations:
                plan = match.plan(operation)
                if plan is None:
                    continue
                fresh = Record(
                    policy=match.ref,
                    operation=operation,
                    table=table.name,
                    seen_at=matched[match.ref],
                )
                old = known.get(fresh.key)
                kept = fresh if old is None else _replanned(old, plan, before)
                wanted[fresh.key] = _counted(kept, counts[operation] == match.ref, soon)
    gone = [record for key, record in known.items() if key not in wanted]
    untouched = {table.name for table in tables if table.history.untouched is not None}
    outranked = [record for record in wanted.values() if not record.counts or record.table in untouched]
    discarded = discard_waiting(transaction, [*gone, *outranked], now)
    transaction.drop_records(MAINTENANCE_RECORDS, [record.key for record in gone])
    transaction.put_records(
        MAINTENANCE_RECORDS,
        [
            msgspec.structs.replace(record, job=None, reason=None, due_since=None)
            if record.job in discarded
            else record
            for record in wanted.values()
        ],
    )
    transaction.put_records(MAINTAINED_TABLES, changed)


def _seen(known: Iterable[Record]) -> dict[tuple[str, str], datetime]:
    """Return the first poll that saw each policy and table."""
    found: dict[tuple[str, str], datetime] = {}
    for record in known:
        pair = record.policy, record.table
        found[pair] = min(found.get(pair, record.seen_at), record.seen_at)
    return found


def _replanned(record: Record, plan: OperationPlan, before: Mapping[str, Policy] | None) -> Record:
    """Return the record; with a changed cron, interval or zone its next run counts from its last start."""
    if before is None or record.last_start is None:
        return record
    policy = before.get(record.policy)
    old = None if policy is None else policy.operations.get(record.operation)
    if old is None or (old.cron, old.interval, old.timezone) == (plan.cron, plan.interval, plan.timezone):
        return record
    return msgspec.structs.replace(record, next_run=times.next_run(plan, record.last_start))


def _counted(record: Record, counts: bool, soon: datetime) -> Record:
    """Return the record with whether it counts; the next poll looks at one that does."""
    return msgspec.structs.replace(record, counts=counts, next_look=soon if counts else None)


def discard_waiting(
    transaction: EngineTransaction, records: Sequence[Record], now: datetime
) -> frozenset[str]:
    """Discard the waiting jobs of some records, and return their ids; running ones go on."""
    ids = {record.job for record in records if record.job is not None}
    jobs = [job for job in transaction.jobs(ids=ids) if job.state in WAITING] if ids else []
    return frozenset(job.id for job in discard_jobs(transaction, jobs, Reason.D_DELETED, now))
