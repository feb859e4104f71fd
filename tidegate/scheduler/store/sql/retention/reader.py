"""The reader of retention in SQL; every page and every fact about its rows is answered by an index."""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Label,
    Select,
    and_,
    bindparam,
    exists,
    func,
    or_,
    select,
    text,
    tuple_,
)
from sqlalchemy.exc import OperationalError

from tidegate.scheduler.model.job import UNFINISHED
from tidegate.scheduler.model.retention import (
    LedgerSum,
    OldEvent,
    OldJob,
    OldRun,
    OpenInstance,
    PrunedKind,
    Snapshot,
)
from tidegate.scheduler.model.run import ENDED, Launched, RunStatus
from tidegate.scheduler.store.answers import Position, TableSize
from tidegate.scheduler.store.ledger import summed
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Instant
from tidegate.scheduler.store.sql.journal import JOURNAL_TABLE
from tidegate.scheduler.store.sql.maintenance import operation_runs
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.retention.tables import pruned, snapshots
from tidegate.scheduler.store.sql.statements.bulk import among, listed
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Queries, every
from tidegate.scheduler.store.sql.statements.rows import EVENTS, JOBS, LAUNCHES, RUNS
from tidegate.scheduler.store.sql.totals import counted

ACTIVE_RUNS = tuple(status for status in RunStatus if status not in ENDED)

_JOBS, _EVENTS, _RUNS, _DELIVERIES = tables.jobs.c, tables.events.c, tables.runs.c, tables.deliveries.c


def _page(
    query: Select[*tuple[Any, ...]], at: Column[Any], id: Column[Any], *, goes_on: bool
) -> Select[*tuple[Any, ...]]:
    """Return the query for a page of rows before the parameter `before`, after `after_at` and `after_id`."""
    if goes_on:
        position = tuple_(bindparam("after_at", type_=Instant), bindparam("after_id"))
        query = query.where(tuple_(at, id) > position)
    return query.where(at < bindparam("before", type_=Instant)).order_by(at, id).limit(LIMIT)


@cache
def _old_jobs(*, goes_on: bool) -> Select[*tuple[Any, ...]]:
    claim, run, edge, consumer = tables.claims, tables.runs, tables.edges, tables.jobs.alias()
    ended = exists().where(run.c.run_id == claim.c.run_id, run.c.ended_at.is_not(None))
    claimed = exists().where(claim.c.job == _JOBS.id, ~ended.correlate(claim))
    active = exists().where(run.c.job == _JOBS.id, run.c.status.in_(ACTIVE_RUNS))
    open_consumer = exists().where(consumer.c.id == edge.c.job, consumer.c.state.in_(UNFINISHED))
    waited_for = exists().where(edge.c.upstream == _JOBS.id, open_consumer.correlate(edge))
    at_work = or_(claimed.correlate(tables.jobs), active.correlate(tables.jobs))
    query = every(JOBS).add_columns(
        at_work.label("at_work"), waited_for.correlate(tables.jobs).label("waited_for")
    )
    return _page(query, _JOBS.opened_at, _JOBS.id, goes_on=goes_on)


@cache
def _old_events(*, goes_on: bool) -> Select[*tuple[Any, ...]]:
    newer, original = tables.events.alias("newer"), tables.events.alias("original")
    job_exists = exists().where(tables.jobs.c.id == _DELIVERIES.job)
    has_job = exists().where(_DELIVERIES.event == _EVENTS.id, job_exists.correlate(tables.deliveries))
    later = or_(
        newer.c.arrived > _EVENTS.arrived,
        and_(newer.c.arrived == _EVENTS.arrived, newer.c.id > _EVENTS.id),
    )
    superseded = exists().where(
        newer.c.key == _EVENTS.key, newer.c.partition == _EVENTS.partition, newer.c.origin.is_(None), later
    )
    held = exists().where(original.c.id == _EVENTS.origin)
    facts: tuple[tuple[str, ColumnElement[Any]], ...] = (
        ("unrouted", _EVENTS.unrouted_since.is_not(None)),
        ("has_job", has_job.correlate(tables.events)),
        ("superseded", or_(_EVENTS.partition.is_(None), superseded.correlate(tables.events))),
        ("original_held", held.correlate(tables.events)),
    )
    query = every(EVENTS).add_columns(*(fact.label(name) for name, fact in facts))
    return _page(query, _EVENTS.arrived, _EVENTS.id, goes_on=goes_on)


@cache
def _old_runs(*, goes_on: bool) -> Select[*tuple[Any, ...]]:
    has_job = exists().where(tables.jobs.c.id == _RUNS.job).correlate(tables.runs)
    return _page(
        every(RUNS).add_columns(has_job.label("has_job")), _RUNS.seen_at, _RUNS.run_id, goes_on=goes_on
    )


OLD_LAUNCHES = (
    select(tables.launches.c.holder)
    .where(tables.launches.c.at < bindparam("before", type_=Instant))
    .order_by(tables.launches.c.at, tables.launches.c.holder)
    .limit(LIMIT)
)
OPEN_INSTANCES = (
    select(_JOBS.schedule, _JOBS.backfill, _JOBS.scheduled_at)
    .where(_JOBS.state.in_(UNFINISHED), _JOBS.scheduled_at.is_not(None))
    .order_by(_JOBS.schedule, _JOBS.backfill, _JOBS.scheduled_at)
)
NEXT_REAL = select(func.min(_JOBS.real_at)).where(
    _JOBS.schedule == bindparam("task"),
    _JOBS.backfill == bindparam("number"),
    _JOBS.real_at > bindparam("scheduled", type_=Instant),
)
SLOTS = select(tables.slots.c.holder, tables.slots.c.resource).order_by(
    tables.slots.c.holder, tables.slots.c.resource
)
LAUNCHED_SINCE = (
    every(LAUNCHES)
    .where(tables.launches.c.at > bindparam("since", type_=Instant))
    .order_by(tables.launches.c.at, tables.launches.c.holder)
)
SNAPSHOTS = select(snapshots.c.number, snapshots.c.at).order_by(snapshots.c.number)
NEWEST_SNAPSHOT = select(snapshots.c.number, snapshots.c.at, snapshots.c.state).order_by(
    snapshots.c.number.desc()
)

PRUNED = select(pruned.c.id)


class RetentionReader(Queries):
    def pruned(self, kind: PrunedKind, ids: Collection[str]) -> frozenset[str]:
        if not ids:
            return frozenset()
        found = self._all(PRUNED, tuple[str], {pruned.c.id: ids}, {pruned.c.kind: kind})
        return frozenset(id for (id,) in found)

    def old_jobs(self, before: datetime, after: Position | None, limit: int) -> tuple[OldJob, ...]:
        rows = self._rows(_old_jobs(goes_on=after is not None), before, after, limit)
        return tuple(
            OldJob(job=JOBS.value(row), at_work=bool(row.at_work), waited_for=bool(row.waited_for))
            for row in rows
        )

    def open_instances(self) -> tuple[OpenInstance, ...]:
        return tuple(
            OpenInstance(task=task, number=number, scheduled=scheduled)
            for task, number, scheduled in self._connection.execute(OPEN_INSTANCES).all()
        )

    def next_real(self, task: str, number: int, scheduled: datetime) -> datetime | None:
        given = {"task": task, "number": number, "scheduled": scheduled}
        return self._connection.execute(NEXT_REAL, given).scalar()

    def old_events(self, before: datetime, after: Position | None, limit: int) -> tuple[OldEvent, ...]:
        rows = self._rows(_old_events(goes_on=after is not None), before, after, limit)
        return tuple(
            OldEvent(
                event=EVENTS.value(row),
                unrouted=bool(row.unrouted),
                has_job=bool(row.has_job),
                superseded=bool(row.superseded),
                original_held=bool(row.original_held),
            )
            for row in rows
        )

    def old_runs(self, before: datetime, after: Position | None, limit: int) -> tuple[OldRun, ...]:
        rows = self._rows(_old_runs(goes_on=after is not None), before, after, limit)
        return tuple(OldRun(run=RUNS.value(row), has_job=bool(row.has_job)) for row in rows)

    def old_launches(self, before: datetime, limit: int) -> tuple[str, ...]:
        given = {"before": before, "limit": limit}
        return tuple(self._connection.execute(OLD_LAUNCHES, given).scalars())

    def events_of_jobs(self, jobs: Collection[str]) -> tuple[LedgerSum, ...]:
        query = counted(
            [among(self._dialect, _DELIVERIES.job, "jobs")],
            [func.coalesce(_JOBS.ended_at, _JOBS.opened_at).label("day")],
        )
        rows = self._connection.execute(query, {"jobs": listed(self._dialect, jobs)}).all()
        return summed((row.schedule, row.state, row.reason, row.day, row.events) for row in rows)

    def events_without_job(self, events: Collection[str]) -> tuple[LedgerSum, ...]:
        columns = (_DELIVERIES.schedule, _DELIVERIES.event)
        query = (
            select(
                *columns,
                func.min(_DELIVERIES.reason).label("reason"),
                func.min(_DELIVERIES.at).label("at"),
                func.min(tables.events.c.number).label("number"),
            )
            .join_from(tables.deliveries, tables.events, tables.events.c.id == _DELIVERIES.event)
            .where(_DELIVERIES.job == tables.NO_JOB, among(self._dialect, _DELIVERIES.event, "events"))
            .group_by(*columns)
        )
        rows = self._connection.execute(query, {"events": listed(self._dialect, events)}).all()
        return summed((row.schedule, None, row.reason, row.at, row.number) for row in rows)

    def snapshot(self, at: datetime | None = None) -> Snapshot | None:
        query = NEWEST_SNAPSHOT if at is None else NEWEST_SNAPSHOT.where(snapshots.c.at <= at)
        row = self._connection.execute(query.limit(1)).one_or_none()
        return None if row is None else Snapshot(number=row.number, at=row.at, state=bytes(row.state))

    def snapshots(self) -> tuple[tuple[int, datetime], ...]:
        return tuple((row.number, row.at) for row in self._connection.execute(SNAPSHOTS).all())

    def slot_holders(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for holder, resource in self._connection.execute(SLOTS).all():
            found.setdefault(holder, []).append(resource)
        return {holder: tuple(resources) for holder, resources in found.items()}

    def launched_since(self, since: datetime) -> tuple[Launched, ...]:
        return tuple(self._all(LAUNCHED_SINCE, LAUNCHES.value, since=since))

    def sizes(self) -> tuple[TableSize, ...]:
        return table_sizes(self._connection)

    def _rows(
        self, query: Select[*tuple[Any, ...]], before: datetime, after: Position | None, limit: int
    ) -> list[Any]:
        given: dict[str, Any] = {"before": before, "limit": limit}
        if after is not None:
            given |= {"after_at": after[0], "after_id": after[1]}
        return list(self._connection.execute(query, given).all())


OLDEST: dict[str, Column[Any]] = {
    "events": tables.events.c.arrived,
    "jobs": tables.jobs.c.opened_at,
    "runs": tables.runs.c.seen_at,
    "launches": tables.launches.c.at,
    "operation_runs": operation_runs.c.started_at,
    "snapshots": snapshots.c.at,
}
"""Indexed instants: the oldest one is a look-up."""

FIRST_ENTRY = select(JOURNAL_TABLE.c.at).order_by(JOURNAL_TABLE.c.number).limit(1)

ROWS, FIRST = "rows ", "oldest "
"""They begin the names of a table's two columns in `COUNTS`."""


def _counts() -> Select[*tuple[Any, ...]]:
    columns: list[Label[Any]] = []
    for name, table in metadata.tables.items():
        columns.append(select(func.count()).select_from(table).scalar_subquery().label(ROWS + name))
        if name in OLDEST:
            oldest = select(func.min(OLDEST[name], type_=Instant()))
            columns.append(oldest.scalar_subquery().label(FIRST + name))
    return select(*columns, FIRST_ENTRY.scalar_subquery().label(FIRST + JOURNAL_TABLE.name))


def table_sizes(connection: Connection) -> tuple[TableSize, ...]:
    """Return the size of each table, by name."""
    found: list[TableSize] = []
    measured = _bytes(connection)
    # One statement for all tables: most of them are small, and to ask takes longer than to count.
    counted = connection.execute(_counts()).mappings().one()
    for name in sorted(metadata.tables):
        oldest: datetime | None = counted.get(FIRST + name)
        found.append(
            TableSize(table=name, rows=counted[ROWS + name], bytes=measured.get(name), oldest=oldest)
        )
    return tuple(found)


def _bytes(connection: Connection) -> dict[str, int]:
    """Return the bytes of each table with its indexes; nothing where SQLite was built without `dbstat`."""
    if connection.dialect.name == "postgresql":
        query = text(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        )
        return {name: int(size) for name, size in connection.execute(query).all()}
    query = text(
        "SELECT m.tbl_name, SUM(s.pgsize) FROM dbstat AS s JOIN sqlite_master AS m ON m.name = s.name"
        " WHERE s.aggregate = 1 GROUP BY m.tbl_name"
    )
    try:
        return {name: int(size) for name, size in connection.execute(query).all()}
    except OperationalError:
        return {}
