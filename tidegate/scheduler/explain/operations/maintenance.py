"""Maintenance explained: for each operation on a table whether it would run now, and what holds it back.

It loads and judges with the code of a poll, so it reports what the next poll would do with the same health.
It changes nothing.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidegate.domain.model import Operation
from tidegate.domain.model.operation import ORDER
from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance.health import ConditionsChecked, check, fresh
from tidegate.scheduler.decision.maintenance.judge import Judged
from tidegate.scheduler.decision.maintenance.poll import decide_poll
from tidegate.scheduler.model.maintenance import (
    MAINTENANCE_RECORDS,
    OperationRun,
    Record,
    TableState,
    Untouched,
)
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.maintenance.look import Looked, look
from tidegate.scheduler.tick.maintenance.policies import Policies


class OperationStatus(Value, kw_only=True):
    """One operation on one table, as it is at an instant.

    Attributes:
        table, operation: which.
        policy: "app/policy" that counts.
        running: its run, if it runs.
        due: whether its next run has come.
        due_since: since when a poll has seen it due.
        would_run: whether a poll would start it now.
        behind: of one that nothing holds back, the operation that a poll would start on the table before it.
        reason: what holds it back, if it is due.
        detail: the numbers behind the reason, where there are some.
        next: when that may change; of one that is not due its next run.
        untouched: why no poll starts anything on the table.
        forced: `at_latest` has come.
        probe: its start would be the one attempt after a throttle.
        conditions: its thresholds with what was measured, also while it is not due.
        job: its waiting or running job.
    """

    table: str
    operation: Operation
    policy: str
    running: OperationRun | None = None
    due: bool = False
    due_since: datetime | None = None
    would_run: bool = False
    behind: Operation | None = None
    reason: Reason | None = None
    detail: str = ""
    next: datetime | None = None
    untouched: Untouched | None = None
    forced: bool = False
    probe: bool = False
    conditions: ConditionsChecked = ConditionsChecked()
    job: str | None = None


def operation_status(
    reader: EngineReader, table: TableState, policies: Policies, now: datetime
) -> tuple[OperationStatus, ...]:
    """Return the status of all operations on a table, in the order in which they run."""
    records = [record for record in reader.records(MAINTENANCE_RECORDS, table=(table.name,)) if record.counts]
    runs = {run.job: run for run in reader.operation_runs(tables=(table.name,), running=True)}
    looked = look(reader, policies, records, now)
    judged = _judged(looked, policies, now)
    found: list[OperationStatus] = []
    for record in sorted(records, key=lambda record: ORDER[record.operation]):
        verdict = judged.get(record.key)
        if verdict is not None and verdict.due:
            found.append(_due(record, verdict, looked))
            continue
        status = _not_due(record, table, policies, now)
        run = None if record.job is None else runs.get(record.job)
        following = None if verdict is None else verdict.next
        found.append(msgspec.structs.replace(status, running=run, next=following))
    return _one_at_a_time(found)


def _judged(looked: Looked, policies: Policies, now: datetime) -> dict[tuple[str, Operation, str], Judged]:
    """Return the verdict on each operation that does not run, as a poll that starts nothing leaves it."""
    polled = decide_poll(
        looked.judged,
        looked.debts,
        looked.busy,
        looked.spent,
        looked.slots,
        policies.settings,
        now,
        rooms=looked.rooms,
        start=False,
    )
    return {each.judged.asked.record.key: each.judged for each in polled}


def _due(record: Record, judged: Judged, looked: Looked) -> OperationStatus:
    # Whether the order decides depends on all tables: only a poll knows.
    reason = Reason.M_HEALTH if judged.reason is None and judged.awaits_place else judged.reason
    places = looked.rooms.of(record.policy) if reason is Reason.M_PLACES else None
    return OperationStatus(
        table=record.table,
        operation=record.operation,
        policy=record.policy,
        due=True,
        due_since=record.due_since,
        would_run=reason is None,
        reason=reason,
        detail="" if places is None else places.sentence,
        next=judged.next,
        forced=judged.forced,
        probe=judged.probe,
        conditions=judged.conditions,
        job=record.job,
    )


def _not_due(record: Record, table: TableState, policies: Policies, now: datetime) -> OperationStatus:
    """Return the status of one that runs, or whose next run has not come."""
    when, own = policies.plan_of(record).when, table.history.of(record.operation)
    health = fresh(table.health, now, policies.settings.poll)
    return OperationStatus(
        table=record.table,
        operation=record.operation,
        policy=record.policy,
        untouched=table.history.untouched,
        conditions=check(when, health, own.succeeded_at, record.seen_at, now),
        job=record.job,
    )


def _one_at_a_time(found: Sequence[OperationStatus]) -> tuple[OperationStatus, ...]:
    """Return the statuses as a poll starts one operation of a table: the first one that may start."""
    first = next((each.operation for each in found if each.would_run), None)
    return tuple(
        msgspec.structs.replace(each, would_run=False, behind=first)
        if each.would_run and each.operation is not first
        else each
        for each in found
    )
