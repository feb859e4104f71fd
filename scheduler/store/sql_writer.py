"""Changes the store in SQL, within the serialised transaction of the connection it is given.

Rows are written in sets: one statement for a list of values, `INSERT ... ON CONFLICT` where a
row may exist already. Uniqueness is guarded by primary keys as well, so even a writer that
ignored the store's lock could not store one event or claim twice.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Table, delete, insert, or_, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite

from scheduler.deployed import DeployedApp, ScheduleState
from scheduler.event import Delivery, Event, Subscription
from scheduler.job import WAITING, Job
from scheduler.journal import Entry
from scheduler.run import Gauge, Run
from scheduler.store import tables
from scheduler.store.error import StoreError
from scheduler.store.protocol import Launched
from scheduler.store.rows import (
    Fields,
    app_row,
    delivery_row,
    entry_row,
    event_row,
    gauge_row,
    job_row,
    launched_row,
    run_row,
    schedule_row,
)
from scheduler.store.sql_reader import SqlReader, chunks

KEY_CHUNK = 200
"""Keys of four columns named in one statement: below every database's limit of parameters."""

WAITING_STATES = tuple(sorted(state.value for state in WAITING))


class SqlTransaction(SqlReader):
    """See `Transaction`."""

    def put_apps(self, apps: Sequence[DeployedApp]) -> None:
        """See `Transaction.put_apps`."""
        self._upsert(tables.apps, [app_row(app) for app in apps])

    def delete_apps(self, names: Collection[str]) -> None:
        """See `Transaction.delete_apps`."""
        self._delete(tables.apps, "name", names)

    def put_schedules(self, schedules: Sequence[ScheduleState]) -> None:
        """See `Transaction.put_schedules`."""
        self._upsert(tables.schedules, [schedule_row(state) for state in schedules])

    def put_subscriptions(self, schedules: Collection[str], subscriptions: Sequence[Subscription]) -> None:
        """See `Transaction.put_subscriptions`."""
        self._delete(tables.subscriptions, "schedule", schedules)
        self._insert_absent(tables.subscriptions, [msgspec.structs.asdict(each) for each in subscriptions])

    def delete_schedules(self, refs: Collection[str]) -> None:
        """See `Transaction.delete_schedules`."""
        self._delete(tables.schedules, "ref", refs)
        self._delete(tables.subscriptions, "schedule", refs)

    def add_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """See `Transaction.add_events`."""
        known = self._known_events(event.id for event in events)
        new: dict[str, Event] = {}
        for event in events:
            if event.id not in known:
                new.setdefault(event.id, event)
        self._insert_absent(tables.events, [event_row(event) for event in new.values()])
        return tuple(new.values())

    def mark_routed(self, event_ids: Collection[str]) -> None:
        """See `Transaction.mark_routed`."""
        for chunk in chunks(event_ids):
            self._connection.execute(
                update(tables.events).where(tables.events.c.id.in_(chunk)).values(unrouted_since=None)
            )

    def add_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """See `Transaction.add_deliveries`."""
        wanted = {each.event.id for each in deliveries}
        missing = wanted - self._known_events(wanted)
        if missing:
            raise StoreError(f"a delivery of event {min(missing)}, which the store does not hold")
        self._insert_absent(tables.deliveries, [delivery_row(each) for each in deliveries])

    def remove_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """See `Transaction.remove_deliveries`."""
        key = list(tables.deliveries.primary_key)
        rows = [delivery_row(each) for each in deliveries]
        keys = [tuple(row[column.name] for column in key) for row in rows]
        for start in range(0, len(keys), KEY_CHUNK):
            chunk = keys[start : start + KEY_CHUNK]
            self._connection.execute(delete(tables.deliveries).where(tuple_(*key).in_(chunk)))

    def put_jobs(self, jobs: Sequence[Job]) -> None:
        """See `Transaction.put_jobs`."""
        self._upsert(tables.jobs, [job_row(job) for job in jobs])

    def take_slots(self, holder: str, resources: Collection[str]) -> None:
        """See `Transaction.take_slots`."""
        self._insert_absent(
            tables.slots, [{"resource": resource, "holder": holder} for resource in sorted(set(resources))]
        )

    def release_slots(self, holder: str) -> tuple[str, ...]:
        """See `Transaction.release_slots`."""
        table = tables.slots
        held = (
            self._connection.execute(select(table.c.resource).where(table.c.holder == holder)).scalars().all()
        )
        if held:
            self._connection.execute(delete(table).where(table.c.holder == holder))
        return tuple(sorted(held))

    def add_launches(self, launches: Sequence[Launched]) -> None:
        """See `Transaction.add_launches`."""
        self._insert_absent(tables.launches, [launched_row(each) for each in launches])

    def remove_launch(self, holder: str) -> None:
        """See `Transaction.remove_launch`."""
        self._delete(tables.launches, "holder", [holder])

    def put_gauges(self, gauges: Sequence[Gauge]) -> None:
        """See `Transaction.put_gauges`."""
        if not gauges:
            return
        # The newest report of a name stands, of two at one instant the later one in the list.
        newest = {gauge.name: gauge for gauge in sorted(gauges, key=lambda gauge: gauge.reported_at)}
        statement = self._insert()(tables.gauges)
        new = statement.excluded
        upsert = statement.on_conflict_do_update(
            index_elements=[tables.gauges.c.name],
            set_={"value": new.value, "reported_at": new.reported_at},
            where=tables.gauges.c.reported_at <= new.reported_at,
        )
        self._connection.execute(upsert, [gauge_row(gauge) for gauge in newest.values()])

    def wake(self, resources: Collection[str], at: datetime) -> None:
        """See `Transaction.wake`."""
        table = tables.jobs
        for chunk in chunks(resources):
            self._connection.execute(
                update(table)
                .where(table.c.blocked_on.in_(chunk), table.c.state.in_(WAITING_STATES))
                .where(or_(table.c.next_check_at.is_(None), table.c.next_check_at > at))
                .values(next_check_at=at, due_at=at)
            )

    def put_runs(self, runs: Sequence[Run]) -> None:
        """See `Transaction.put_runs`."""
        self._upsert(tables.runs, [run_row(run) for run in runs])

    def claim(self, job: str, attempt: int, run_id: str, at: datetime) -> str:
        """See `Transaction.claim`."""
        self._insert_absent(tables.claims, [{"job": job, "attempt": attempt, "run_id": run_id, "at": at}])
        return self.claim_of(job, attempt) or run_id

    def set_cursor(self, name: str, value: Any) -> None:
        """See `Transaction.set_cursor`."""
        self._upsert(tables.cursors, [{"name": name, "value": msgspec.json.encode(value).decode()}])

    def add_journal(self, entries: Sequence[Entry]) -> None:
        """See `Transaction.add_journal`."""
        if entries:
            self._connection.execute(insert(tables.journal), [entry_row(entry) for entry in entries])

    def _known_events(self, ids: Iterable[str]) -> set[str]:
        column = tables.events.c.id
        return {
            id
            for chunk in chunks(set(ids))
            for id in self._connection.execute(select(column).where(column.in_(chunk))).scalars()
        }

    def _delete(self, table: Table, column: str, values: Collection[str]) -> None:
        for chunk in chunks(values):
            self._connection.execute(delete(table).where(table.c[column].in_(chunk)))

    def _insert(self) -> Callable[[Table], Any]:
        """INSERT in the dialect of the connection: both databases have ON CONFLICT, under one spelling."""
        return sqlite.insert if self._connection.dialect.name == "sqlite" else postgresql.insert

    def _insert_absent(self, table: Table, rows: Sequence[Fields]) -> None:
        if rows:
            self._connection.execute(self._insert()(table).on_conflict_do_nothing(), rows)

    def _upsert(self, table: Table, rows: Sequence[Fields]) -> None:
        if not rows:
            return
        key = [column.name for column in table.primary_key]
        # PostgreSQL refuses to change one row twice in a statement; the last value of a key stands.
        distinct = {tuple(row[name] for name in key): row for row in rows}
        statement = self._insert()(table)
        replaced = {
            column.name: statement.excluded[column.name] for column in table.c if column.name not in key
        }
        upsert = statement.on_conflict_do_update(index_elements=key, set_=replaced)
        self._connection.execute(upsert, list(distinct.values()))
