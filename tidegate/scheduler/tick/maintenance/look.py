"""Look: load what decides about operations on tables, and judge each of them. Part of the shell: it loads."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.decision.maintenance.health import debt, fresh
from tidegate.scheduler.decision.maintenance.judge import Asked, Judged, judge
from tidegate.scheduler.decision.maintenance.poll import FREE, Busy, Spent
from tidegate.scheduler.decision.maintenance.times import IN_LINE
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    OperationRun,
    Record,
    TableState,
)
from tidegate.scheduler.model.places import Rooms
from tidegate.scheduler.model.run import group_resource
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.maintenance.busy import load_busy
from tidegate.scheduler.tick.maintenance.policies import Policies
from tidegate.scheduler.tick.places import load_rooms

ONE_HOUR = timedelta(hours=1)


class Looked(Value, kw_only=True):
    """What a poll knows when it decides.

    Attributes:
        judged: a verdict for each record whose policy counts, and that does not run.
        debts: by table, of those with an operation that may start.
        busy: by table.
        slots: the number of free slots of each pool.
        rooms: how many operations may begin beside the pipelines.
    """

    judged: tuple[Judged, ...]
    debts: Mapping[str, float]
    busy: Mapping[str, Busy]
    spent: Spent
    slots: Mapping[str, int]
    rooms: Rooms = Rooms()


def look(reader: EngineReader, policies: Policies, records: Sequence[Record], now: datetime) -> Looked:
    """Load what decides about some records at an instant, and judge them.

    Where one of them has waited in line and no longer does, those behind it are judged too.
    """
    runs = reader.operation_runs(running=True)
    judged = _judged(reader, policies, records, runs, now)
    busy = _busy(reader, policies, [each.asked for each in judged if _is_ready(each)], now)
    behind = _behind(reader, judged, busy)
    judged += _judged(reader, policies, behind, runs, now)
    tables = {each.asked.table.name: each.asked.table for each in judged if _is_ready(each)}
    return Looked(
        judged=judged,
        debts={name: order_debt(policies, table, now) for name, table in tables.items()},
        busy=busy,
        spent=spent(reader, policies, now),
        slots=free_slots(reader, policies),
        rooms=load_rooms(reader) if any(each.due for each in judged) else Rooms(),
    )


def _judged(
    reader: EngineReader,
    policies: Policies,
    records: Sequence[Record],
    runs: Sequence[OperationRun],
    now: datetime,
) -> tuple[Judged, ...]:
    """Judge the records whose policy counts, and that do not run."""
    tables = {
        table.name: table
        for table in reader.records(MAINTAINED_TABLES, name={record.table for record in records})
    }
    running, at_work = {run.table for run in runs}, {run.job for run in runs}
    following = policies.poll_after(now, now)
    return tuple(
        judge(
            Asked(
                record=record,
                plan=policies.plan_of(record),
                table=tables[record.table],
                settings=policies.settings,
                running=record.table in running,
                next_poll=following,
            ),
            now,
        )
        for record in records
        if record.counts and record.job not in at_work
    )


def _is_ready(judged: Judged) -> bool:
    return judged.due and judged.reason is None


def _behind(reader: EngineReader, judged: Sequence[Judged], busy: Mapping[str, Busy]) -> list[Record]:
    """Return the other records of the tables whose first operation in line waits no longer in it."""
    left = {
        each.asked.table.name
        for each in judged
        if each.asked.record.reason in IN_LINE and not (_is_ready(each) and _is_free(each, busy))
    }
    given = {each.asked.record.key for each in judged}
    return (
        [record for record in reader.records(MAINTENANCE_RECORDS, table=left) if record.key not in given]
        if left
        else []
    )


def _is_free(judged: Judged, busy: Mapping[str, Busy]) -> bool:
    asked = judged.asked
    return not asked.record.operation.rewrites_data or busy.get(asked.table.name, FREE).free


def order_debt(policies: Policies, table: TableState, now: datetime) -> float:
    """Return the debt by which starts are ordered."""
    weights = policies.settings.debt
    health = fresh(table.health, now, policies.settings.poll)
    found = debt(health, table.history, policies.rules(table), weights, failures=weights.order_by_failures)
    return found.score


def _busy(reader: EngineReader, policies: Policies, ready: Sequence[Asked], now: datetime) -> dict[str, Busy]:
    rewritten = {
        each.table.dataset
        for each in ready
        if each.record.operation.rewrites_data and each.table.dataset is not None
    }
    return load_busy(reader, policies.apps, rewritten, now) if rewritten else {}


def spent(reader: EngineReader, policies: Policies, now: datetime) -> Spent:
    """Return what counts against the budgets at an instant."""
    budget = policies.settings.budget
    started: Collection[OperationRun] = ()
    if budget.tables_per_poll or budget.operations_per_poll:
        started = reader.operation_runs(started_since=policies.budget_from(now))
    hour_ends = times.next_hour(now)
    return Spent(
        tables=frozenset(run.table for run in started),
        operations=len(started),
        bytes=reader.bytes_rewritten(hour_ends - ONE_HOUR, hour_ends) if budget.bytes_per_hour else 0,
    )


def free_slots(reader: EngineReader, policies: Policies) -> dict[str, int]:
    """Return the number of free slots of each pool; not below 0."""
    pools = policies.settings.auto_pools
    if not pools:
        return {}
    taken = reader.slots([group_resource(pool) for pool in pools])
    return {pool: max(most - taken[group_resource(pool)], 0) for pool, most in pools.items()}
