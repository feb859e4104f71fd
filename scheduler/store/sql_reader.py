"""Looks at the store in SQL, within the transaction of the connection it is given.

Every question the engine asks at a tick is answered through an index (see `tables`), and its text
does not depend on how long its lists are (see `bulk`).
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Column, ColumnElement, Connection, Select, case, func, select

from scheduler.deployed import DeployedApp, ScheduleState
from scheduler.event import Delivery, Event, Subscription
from scheduler.job import Job, JobState
from scheduler.journal import Entry
from scheduler.run import ENDED, Gauge, ProgramHistory, Run, RunStatus
from scheduler.store import tables
from scheduler.store.bulk import among, given
from scheduler.store.codec import Row
from scheduler.store.ledger import ledger_rows
from scheduler.store.protocol import LedgerRow
from scheduler.store.rows import (
    APPS,
    DELIVERY_READ,
    EVENTS,
    GAUGES,
    JOBS,
    JOURNAL,
    RUNS,
    SCHEDULES,
    SUBSCRIPTIONS,
    delivery_of,
)

LAST_CODE_POINT = "\U0010ffff"
"""Sorts behind everything that can follow a prefix."""

ACTIVE_RUNS = tuple(status for status in RunStatus if status not in ENDED)
ENDED_RUNS = tuple(status for status in RunStatus if status in ENDED)

DELIVERIES = select(*EVENTS.read, *DELIVERY_READ).join_from(
    tables.deliveries, tables.events, tables.events.c.id == tables.deliveries.c.event
)
"""Deliveries with their events, as `rows.delivery_of` reads them."""

T = TypeVar("T")


def starts_with(column: ColumnElement[str], prefix: str) -> ColumnElement[bool]:
    """A prefix as a range: an index serves it, and unlike LIKE it has no wildcards."""
    return column.between(prefix, prefix + LAST_CODE_POINT)


class SqlReader:
    """See `Reader`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _all(
        self,
        query: Select[*tuple[Any, ...]],
        of: Callable[[Row], T],
        lists: Mapping[Column[Any], Collection[str] | None] | None = None,
    ) -> list[T]:
        """The values of all rows whose columns are in the given lists; a list of None does not filter."""
        for column, values in (lists or {}).items():
            if values is not None:
                query = query.where(among(self._connection, column, values))
        return [of(row) for row in self._connection.execute(query)]

    def apps(self, *, names: Collection[str] | None = None) -> tuple[DeployedApp, ...]:
        """See `Reader.apps`."""
        found = self._all(select(*APPS.read), APPS.value, {tables.apps.c.name: names})
        return tuple(sorted(found, key=lambda app: app.name))

    def schedules(
        self, *, app: str | None = None, refs: Collection[str] | None = None
    ) -> tuple[ScheduleState, ...]:
        """See `Reader.schedules`."""
        table = tables.schedules
        query = select(*SCHEDULES.read)
        if app is not None:
            query = query.where(table.c.app == app)
        found = self._all(query, SCHEDULES.value, {table.c.ref: refs})
        return tuple(sorted(found, key=lambda state: state.ref))

    def due_schedules(self, now: datetime, limit: int) -> tuple[ScheduleState, ...]:
        """See `Reader.due_schedules`."""
        table = tables.schedules
        query = select(*SCHEDULES.read).where(table.c.due_at <= now).order_by(table.c.due_at, table.c.ref)
        return tuple(self._all(query.limit(limit), SCHEDULES.value))

    def subscriptions(self, event_keys: Collection[str]) -> tuple[Subscription, ...]:
        """See `Reader.subscriptions`."""
        table = tables.subscriptions
        found = self._all(select(*SUBSCRIPTIONS.read), SUBSCRIPTIONS.value, {table.c.event_key: event_keys})
        return tuple(sorted(found, key=lambda s: (s.schedule, s.leaf, s.event_key)))

    def unrouted_events(self, limit: int) -> tuple[Event, ...]:
        """See `Reader.unrouted_events`."""
        table = tables.events
        query = select(*EVENTS.read).where(table.c.unrouted_since.is_not(None))
        query = query.order_by(table.c.unrouted_since, table.c.id).limit(limit)
        return tuple(self._all(query, EVENTS.value))

    def events(
        self, *, key_prefix: str = "", ids: Collection[str] | None = None, limit: int = 1000
    ) -> tuple[Event, ...]:
        """See `Reader.events`."""
        table = tables.events
        query = select(*EVENTS.read).order_by(table.c.arrived.desc(), table.c.id.desc()).limit(limit)
        if key_prefix:
            query = query.where(starts_with(table.c.key, key_prefix))
        return tuple(self._all(query, EVENTS.value, {table.c.id: ids}))

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
        query = select(*JOBS.read)
        if app is not None:
            query = query.where(table.c.app == app)
        lists: dict[Column[Any], Collection[str] | None] = {
            table.c.id: ids,
            table.c.schedule: schedules,
            table.c.state: states,
        }
        if limit is not None:
            query = query.order_by(table.c.opened_at.desc(), table.c.id.desc()).limit(limit)
        return tuple(sorted(self._all(query, JOBS.value, lists), key=lambda job: (job.opened_at, job.id)))

    def due_jobs(self, now: datetime, limit: int) -> tuple[Job, ...]:
        """See `Reader.due_jobs`."""
        table = tables.jobs
        query = select(*JOBS.read).where(table.c.due_at <= now).order_by(table.c.due_at, table.c.id)
        return tuple(self._all(query.limit(limit), JOBS.value))

    def deliveries(self, jobs: Collection[str]) -> dict[str, tuple[Delivery, ...]]:
        """See `Reader.deliveries`."""
        found: dict[str, list[Delivery]] = {job: [] for job in jobs}
        for delivery in self._all(DELIVERIES, delivery_of, {tables.deliveries.c.job: jobs}):
            found[delivery.job or tables.NO_JOB].append(delivery)
        for each in found.values():
            each.sort(key=lambda d: (d.event.arrived, d.event.id, d.leaf, d.schedule))
        return {job: tuple(each) for job, each in found.items()}

    def deliveries_of_events(self, events: Collection[str]) -> tuple[Delivery, ...]:
        """See `Reader.deliveries_of_events`."""
        found = self._all(DELIVERIES, delivery_of, {tables.deliveries.c.event: events})
        return tuple(sorted(found, key=lambda d: (d.event.id, d.schedule, d.leaf, d.job or "")))

    def slots(self, resources: Collection[str]) -> dict[str, int]:
        """See `Reader.slots`."""
        table = tables.slots
        query = select(table.c.resource, func.count()).group_by(table.c.resource)
        taken = dict(self._all(query, tuple[str, int], {table.c.resource: resources}))
        return {resource: taken.get(resource, 0) for resource in resources}

    def history(self, programs: Collection[str]) -> dict[str, ProgramHistory]:
        """See `Reader.history`."""
        # Looks at the end of the index, for each program and status; grouping would read all past runs.
        table = tables.runs
        listed = given(self._connection, programs)
        ends = select(table.c.ended_at).where(
            table.c.program == listed.c.value, table.c.ended_at.is_not(None)
        )
        last_end = [
            ends.with_only_columns(func.max(table.c.ended_at)).where(table.c.status == status)
            for status in ENDED_RUNS
        ]
        newest = ends.where(table.c.status == RunStatus.SUCCEEDED)
        newest = newest.order_by(table.c.ended_at.desc(), table.c.run_id.desc()).limit(1)
        last_success = [newest.with_only_columns(column) for column in (table.c.started_at, table.c.ended_at)]
        each = [query.scalar_subquery().correlate(listed) for query in (*last_success, *last_end)]
        found = {program: ProgramHistory() for program in programs}
        for program, started, ended, *last in self._all(select(listed.c.value, *each), list[Any]):
            found[program] = ProgramHistory(
                last_success_started=started,
                last_success_ended=ended,
                last_ended=max((end for end in last if end is not None), default=None),
            )
        return found

    def launches(self, programs: Collection[str], since: datetime) -> dict[str, tuple[datetime, ...]]:
        """See `Reader.launches`."""
        table = tables.launches
        found: dict[str, list[datetime]] = {program: [] for program in programs}
        query = select(table.c.program, table.c.at).where(table.c.at > since)
        for program, at in self._all(query, tuple[str, datetime], {table.c.program: programs}):
            found[program].append(at)
        return {program: tuple(sorted(each)) for program, each in found.items()}

    def gauges(self, names: Collection[str] | None = None) -> tuple[Gauge, ...]:
        """See `Reader.gauges`."""
        table = tables.gauges
        found = self._all(select(*GAUGES.read), GAUGES.value, {table.c.name: names})
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
        query = select(*RUNS.read)
        if active is not None:
            is_active = table.c.status.in_(ACTIVE_RUNS)
            query = query.where(is_active if active else ~is_active)
        if limit is not None:
            query = query.order_by(table.c.seen_at.desc(), table.c.run_id.desc()).limit(limit)
        found = self._all(query, RUNS.value, {table.c.run_id: ids, table.c.job: jobs})
        return tuple(sorted(found, key=lambda run: (run.seen_at, run.run_id)))

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
        query = select(*JOURNAL.read).order_by(table.c.number.desc())
        if schedule is not None:
            query = query.where(table.c.schedule == schedule)
        if job is not None:
            query = query.where(table.c.job == job)
        if since is not None:
            query = query.where(table.c.at >= since)
        return tuple(self._all(query.limit(limit), JOURNAL.value)[::-1])

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
            (row.schedule, row.state, row.reason, row.deliveries) for row in self._connection.execute(query)
        )
