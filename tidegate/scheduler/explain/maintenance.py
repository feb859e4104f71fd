"""Maintenance explained: for each operation on a table whether it would run now, and what holds it back.

It loads and judges with the code of a poll, so it reports what the next poll would do with the same health.
It changes nothing.
"""

from collections.abc import Sequence
from datetime import datetime

from tidegate.domain.model import Operation
from tidegate.domain.model.maintenance import ORDER
from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance.conditions import ConditionsChecked
from tidegate.scheduler.decision.maintenance.debt import Debt, debt
from tidegate.scheduler.decision.maintenance.health import fresh
from tidegate.scheduler.decision.maintenance.poll import Polled, decide_poll
from tidegate.scheduler.decision.maintenance.rank import health_rules, matches
from tidegate.scheduler.model.maintenance import OperationRun, Record, TableState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import MaintenanceRefused
from tidegate.scheduler.store.protocol import Reader
from tidegate.scheduler.tick.maintenance.look import look
from tidegate.scheduler.tick.maintenance.policies import Policies, load_policies
from tidegate.scheduler.tick.maintenance.tables import table_named


class OperationStatus(Value, kw_only=True):
    """One operation on one table, as it is at an instant.

    Attributes:
        policy: "app/policy" that counts.
        running: its run, if it runs.
        due: whether its next run has come.
        due_since: since when a poll has seen it due.
        would_run: whether a poll would start it now.
        reason: what holds it back, if it is due.
        next: when that may change; of one that is not due its next run.
        forced: `at_latest` has come.
        probe: its start would be the one attempt after a throttle.
        conditions: its thresholds with what was measured.
        job: its waiting or running job.
    """

    table: str
    operation: Operation
    policy: str
    running: OperationRun | None = None
    due: bool = False
    due_since: datetime | None = None
    would_run: bool = False
    reason: Reason | None = None
    next: datetime | None = None
    forced: bool = False
    probe: bool = False
    conditions: ConditionsChecked = ConditionsChecked()
    job: str | None = None


def table_of(reader: Reader, text: str) -> TableState:
    """Return the table with one of its names.

    Raises:
        MaintenanceRefused: E-TABLE, it is not known.
    """
    found = table_named(reader, text)
    if found is None:
        raise MaintenanceRefused(
            "E-TABLE", f"no table {text} is known", "`tidegate maintenance tables` shows those that are"
        )
    return found


def operation_status(reader: Reader, table: str, now: datetime) -> tuple[OperationStatus, ...]:
    """Return the status of all operations on a table, in the order in which they run.

    Raises:
        MaintenanceRefused: E-TABLE.
    """
    found, policies = table_of(reader, table), load_policies(reader, now)
    records = [record for record in reader.records(tables=(found.name,)) if record.counts]
    runs = {run.operation: run for run in reader.operation_runs(tables=(found.name,), running=True)}
    polled = {each.judged.asked.record.key: each for each in _polled(reader, policies, records, now)}
    return tuple(
        _status(record, polled.get(record.key), _run_of(record, runs))
        for record in sorted(records, key=lambda record: ORDER[record.operation])
    )


def _run_of(record: Record, runs: dict[Operation, OperationRun]) -> OperationRun | None:
    run = runs.get(record.operation)
    return run if run is not None and run.job == record.job else None


def _polled(
    reader: Reader, policies: Policies, records: Sequence[Record], now: datetime, *, start: bool = False
) -> tuple[Polled, ...]:
    looked = look(reader, policies, records, now)
    return decide_poll(
        looked.judged,
        looked.debts,
        looked.busy,
        looked.spent,
        looked.slots,
        policies.settings,
        now,
        start=start,
    )


def _status(record: Record, polled: Polled | None, run: OperationRun | None) -> OperationStatus:
    if polled is None:
        return OperationStatus(
            table=record.table,
            operation=record.operation,
            policy=record.policy,
            running=run,
            job=record.job,
        )
    judged = polled.judged
    return OperationStatus(
        table=record.table,
        operation=record.operation,
        policy=record.policy,
        running=run,
        due=judged.due,
        due_since=record.due_since if judged.due else None,
        would_run=judged.due and judged.reason is None,
        reason=judged.reason,
        next=judged.next,
        forced=judged.forced,
        probe=judged.probe,
        conditions=judged.conditions,
        job=record.job,
    )


def table_debt(reader: Reader, table: str, now: datetime) -> Debt:
    """Return the debt of a table, with its failures, by what was measured last.

    Raises:
        MaintenanceRefused: E-TABLE.
    """
    found, policies = table_of(reader, table), load_policies(reader, now)
    rules = health_rules(matches(policies.policies, found))
    health = fresh(found.health, now)
    return debt(health, found.history, rules, policies.settings.debt, failures=True)
