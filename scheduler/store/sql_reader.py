"""Looks at the store in SQL, within the transaction of the connection it is given.

Every question the engine asks at a tick is answered through an index (see `tables`). Long
lists of ids are asked for in chunks, since databases limit the parameters of a statement.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Column, ColumnElement, Connection, Row, RowMapping, Select, case, func, select

from scheduler.deployed import DeployedApp, ScheduleState
from scheduler.event import Delivery, Event, Subscription
from scheduler.job import Job, JobState
from scheduler.journal import Entry
from scheduler.run import ENDED, Gauge, ProgramHistory, Run, RunStatus
from scheduler.store import tables
from scheduler.store.ledger import ledger_rows
from scheduler.store.protocol import LedgerRow
from scheduler.store.rows import (
    app_of,
    delivery_of,
    entry_of,
    event_of,
    gauge_of,
    job_of,
    run_of,
    schedule_of,
)

LIST_CHUNK = 500
"""Ids asked for in one statement: below every database's limit, and few enough different statement shapes."""

LAST_CODE_POINT = "\U0010ffff"
"""Sorts behind everything that can follow a prefix."""

ACTIVE_RUNS = tuple(status.value for status in RunStatus if status not in ENDED)
ENDED_RUNS = tuple(status.value for status in RunStatus if status in ENDED)

DELIVERIES = select(
    tables.events,
    tables.deliveries.c.job.label("to_job"),
    tables.deliveries.c.schedule.label("to_schedule"),
    tables.deliveries.c.leaf.label("to_leaf"),
    tables.deliveries.c.reason.label("why"),
    tables.deliveries.c.at.label("delivered_at"),
).join_from(tables.deliveries, tables.events, tables.events.c.id == tables.deliveries.c.event)
"""Deliveries with their events, as `rows.delivery_of` reads them."""

T = TypeVar("T")


def chunks(values: Collection[str]) -> Iterator[list[str]]:
    """Distinct values, sorted, in lists that fit into one statement."""
    distinct = sorted(set(values))
    for start in range(0, len(distinct), LIST_CHUNK):
        yield distinct[start : start + LIST_CHUNK]


def starts_with(column: ColumnElement[str], prefix: str) -> ColumnElement[bool]:
    """A prefix as a range: an index serves it, and unlike LIKE it has no wildcards."""
    return column.between(prefix, prefix + LAST_CODE_POINT)


class SqlReader:
    """See `Reader`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _all(self, query: Select[*tuple[Any, ...]], of: Callable[[RowMapping], T]) -> tuple[T, ...]:
        return tuple(of(row) for row in self._connection.execute(query).mappings())

    def _listed(
        self, query: Select[*tuple[Any, ...]], filters: Mapping[Column[Any], Collection[str] | None]
    ) -> list[RowMapping]:
        """Rows whose columns are in the given lists; a list of None does not filter. Order is lost."""
        given = {column: values for column, values in filters.items() if values is not None}
        if not given:
            return list(self._connection.execute(query).mappings())
        # The longest list goes to the database in chunks, and so do the others within each of them.
        column = max(given, key=lambda each: len(given[each]))
        rest = {other: values for other, values in given.items() if other is not column}
        rows: list[RowMapping] = []
        for chunk in chunks(given[column]):
            rows.extend(self._listed(query.where(column.in_(chunk)), {**rest}))
        return rows

    def apps(self, *, names: Collection[str] | None = None) -> tuple[DeployedApp, ...]:
        """See `Reader.apps`."""
        found = [app_of(row) for row in self._listed(select(tables.apps), {tables.apps.c.name: names})]
        return tuple(sorted(found, key=lambda app: app.name))

    def schedules(
        self, *, app: str | None = None, refs: Collection[str] | None = None
    ) -> tuple[ScheduleState, ...]:
        """See `Reader.schedules`."""
        table = tables.schedules
        query = select(table) if app is None else select(table).where(table.c.app == app)
        found = [schedule_of(row) for row in self._listed(query, {table.c.ref: refs})]
        return tuple(sorted(found, key=lambda state: state.ref))

    def due_schedules(self, now: datetime, limit: int) -> tuple[ScheduleState, ...]:
        """See `Reader.due_schedules`."""
        table = tables.schedules
        query = select(table).where(table.c.due_at <= now).order_by(table.c.due_at, table.c.ref)
        return self._all(query.limit(limit), schedule_of)

    def subscriptions(self, event_keys: Collection[str]) -> tuple[Subscription, ...]:
        """See `Reader.subscriptions`."""
        table = tables.subscriptions
        rows = self._listed(select(table), {table.c.event_key: event_keys})
        found = [Subscription(**row) for row in rows]
        return tuple(sorted(found, key=lambda s: (s.schedule, s.leaf, s.event_key)))

    def unrouted_events(self, limit: int) -> tuple[Event, ...]:
        """See `Reader.unrouted_events`."""
        table = tables.events
        query = select(table).where(table.c.unrouted_since.is_not(None))
        return self._all(query.order_by(table.c.unrouted_since, table.c.id).limit(limit), event_of)

    def events(
        self, *, key_prefix: str = "", ids: Collection[str] | None = None, limit: int = 1000
    ) -> tuple[Event, ...]:
        """See `Reader.events`."""
        table = tables.events
        query = select(table).order_by(table.c.arrived.desc(), table.c.id.desc()).limit(limit)
        if key_prefix:
            query = query.where(starts_with(table.c.key, key_prefix))
        found = [event_of(row) for row in self._listed(query, {table.c.id: ids})]
        return tuple(sorted(found, key=lambda e: (e.arrived, e.id), reverse=True)[:limit])

    def jobs(
        self,
        *,
        ids: Collection[str] | None = None,
        app: str | None = None,
        schedules: Collection[str] | None = None,
        states: Collection[JobState] | None = None,
        limit: int | None = None,
    ) -> tuple[Job, ...]:
        """See `Reader.jobs`."""
        table = tables.jobs
        query = select(table) if app is None else select(table).where(table.c.app == app)
        lists: dict[Column[Any], Collection[str] | None] = {
            table.c.id: ids,
            table.c.schedule: schedules,
            table.c.state: states,
        }
        if limit is not None:
            query = query.order_by(table.c.opened_at.desc(), table.c.id.desc()).limit(limit)
        found = [job_of(row) for row in self._listed(query, lists)]
        found.sort(key=lambda job: (job.opened_at, job.id))
        return tuple(found if limit is None else found[max(0, len(found) - limit) :])

    def due_jobs(self, now: datetime, limit: int) -> tuple[Job, ...]:
        """See `Reader.due_jobs`."""
        table = tables.jobs
        query = select(table).where(table.c.due_at <= now).order_by(table.c.due_at, table.c.id)
        return self._all(query.limit(limit), job_of)

    def deliveries(self, jobs: Collection[str]) -> dict[str, tuple[Delivery, ...]]:
        """See `Reader.deliveries`."""
        found: dict[str, list[Delivery]] = {job: [] for job in jobs}
        for row in self._listed(DELIVERIES, {tables.deliveries.c.job: jobs}):
            found[row["to_job"]].append(delivery_of(row))
        for each in found.values():
            each.sort(key=lambda d: (d.event.arrived, d.event.id, d.leaf, d.schedule))
        return {job: tuple(each) for job, each in found.items()}

    def deliveries_of_events(self, events: Collection[str]) -> tuple[Delivery, ...]:
        """See `Reader.deliveries_of_events`."""
        rows = self._listed(DELIVERIES, {tables.deliveries.c.event: events})
        found = [delivery_of(row) for row in rows]
        return tuple(sorted(found, key=lambda d: (d.event.id, d.schedule, d.leaf, d.job or "")))

    def slots(self, resources: Collection[str]) -> dict[str, int]:
        """See `Reader.slots`."""
        table = tables.slots
        query = select(table.c.resource, func.count().label("taken")).group_by(table.c.resource)
        taken = {row["resource"]: row["taken"] for row in self._listed(query, {table.c.resource: resources})}
        return {resource: taken.get(resource, 0) for resource in resources}

    def history(self, programs: Collection[str]) -> dict[str, ProgramHistory]:
        """See `Reader.history`."""
        return {program: self._history(program) for program in programs}

    def _history(self, program: str) -> ProgramHistory:
        # One look at the end of the index for each status; grouping would read all the program's past runs.
        table = tables.runs
        newest: dict[str, Row[tuple[datetime | None, datetime]]] = {}
        for status in ENDED_RUNS:
            query = (
                select(table.c.started_at, table.c.ended_at)
                .where(table.c.program == program, table.c.status == status)
                .where(table.c.ended_at.is_not(None))
                .order_by(table.c.ended_at.desc(), table.c.run_id.desc())
                .limit(1)
            )
            row = self._connection.execute(query).first()
            if row is not None:
                newest[status] = row
        success = newest.get(RunStatus.SUCCEEDED.value)
        return ProgramHistory(
            last_success_started=None if success is None else success.started_at,
            last_success_ended=None if success is None else success.ended_at,
            last_ended=max((row.ended_at for row in newest.values()), default=None),
        )

    def launches(self, programs: Collection[str], since: datetime) -> dict[str, tuple[datetime, ...]]:
        """See `Reader.launches`."""
        table = tables.launches
        found: dict[str, list[datetime]] = {program: [] for program in programs}
        query = select(table.c.program, table.c.at).where(table.c.at > since)
        for row in self._listed(query, {table.c.program: programs}):
            found[row["program"]].append(row["at"])
        return {program: tuple(sorted(each)) for program, each in found.items()}

    def gauges(self, names: Collection[str] | None = None) -> tuple[Gauge, ...]:
        """See `Reader.gauges`."""
        table = tables.gauges
        found = [gauge_of(row) for row in self._listed(select(table), {table.c.name: names})]
        return tuple(sorted(found, key=lambda gauge: gauge.name))

    def runs(
        self,
        *,
        ids: Collection[str] | None = None,
        jobs: Collection[str] | None = None,
        active: bool | None = None,
        limit: int | None = None,
    ) -> tuple[Run, ...]:
        """See `Reader.runs`."""
        table = tables.runs
        query = select(table)
        if active is not None:
            is_active = table.c.status.in_(ACTIVE_RUNS)
            query = query.where(is_active if active else ~is_active)
        if limit is not None:
            query = query.order_by(table.c.seen_at.desc(), table.c.run_id.desc()).limit(limit)
        found = [run_of(row) for row in self._listed(query, {table.c.run_id: ids, table.c.job: jobs})]
        found.sort(key=lambda run: (run.seen_at, run.run_id))
        return tuple(found if limit is None else found[max(0, len(found) - limit) :])

    def claim_of(self, job: str, attempt: int) -> str | None:
        """See `Reader.claim_of`."""
        table = tables.claims
        query = select(table.c.run_id).where(table.c.job == job, table.c.attempt == attempt)
        return self._connection.execute(query).scalar()

    def cursor(self, name: str) -> Any:
        """See `Reader.cursor`."""
        table = tables.cursors
        value = self._connection.execute(select(table.c.value).where(table.c.name == name)).scalar()
        return None if value is None else msgspec.json.decode(value)

    def journal(
        self,
        *,
        schedule: str | None = None,
        job: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[Entry, ...]:
        """See `Reader.journal`."""
        table = tables.journal
        query = select(table).order_by(table.c.number.desc())
        if schedule is not None:
            query = query.where(table.c.schedule == schedule)
        if job is not None:
            query = query.where(table.c.job == job)
        if since is not None:
            query = query.where(table.c.at >= since)
        return self._all(query.limit(limit), entry_of)[::-1]

    def ledger(self, *, app: str | None = None) -> tuple[LedgerRow, ...]:
        """See `Reader.ledger`."""
        delivery, job = tables.deliveries, tables.jobs
        reason = case((job.c.id.is_(None), delivery.c.reason), else_=job.c.reason).label("reason")
        query = (
            select(delivery.c.schedule, job.c.state, reason, func.count().label("deliveries"))
            .join_from(delivery, job, job.c.id == delivery.c.job, isouter=True)
            .group_by(delivery.c.schedule, job.c.state, reason)
        )
        if app is not None:
            query = query.where(starts_with(delivery.c.schedule, f"{app}/"))
        return ledger_rows(
            (row.schedule, None if row.state is None else JobState(row.state), row.reason, row.deliveries)
            for row in self._connection.execute(query)
        )
