"""The writer of the store in SQL, within the serialised transaction of a given connection.

Rows are written in sets (see `bulk`). Primary keys also ensure uniqueness, so even a writer that
ignored the store's lock could not store an event or a claim twice.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Unpack

import msgspec
from sqlalchemy import Connection, Update, bindparam, delete, select, update

from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.retention import PrunedKind
from tidegate.scheduler.model.run import Launched, Run
from tidegate.scheduler.store.answers import Commitment, Counts, LedgerRow
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import microseconds
from tidegate.scheduler.store.sql.commit_tables import lock_commits
from tidegate.scheduler.store.sql.connection.engine import CHANGED
from tidegate.scheduler.store.sql.journal import JOURNAL
from tidegate.scheduler.store.sql.known import KnowingReader
from tidegate.scheduler.store.sql.maintenance import MaintenanceWriter
from tidegate.scheduler.store.sql.queues import QueueWriter
from tidegate.scheduler.store.sql.records.by_key import RecordWriter
from tidegate.scheduler.store.sql.records.tallies import TallyWriter
from tidegate.scheduler.store.sql.retention.writer import RetentionWriter
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.bulk import among, listed
from tidegate.scheduler.store.sql.statements.queries import Statement
from tidegate.scheduler.store.sql.statements.rows import (
    DELIVERY_KEY,
    DELIVERY_WRITTEN,
    EVENTS,
    JOBS,
    LAUNCHES,
    RUNS,
    SCHEDULES,
    delivery_key,
    delivery_row,
)
from tidegate.scheduler.store.sql.totals import PULSES
from tidegate.scheduler.store.wanted import JobsWanted

_HELD_BY = tables.slots.c.holder == bindparam("held_by")
HELD_SLOTS, RELEASE = select(tables.slots.c.resource).where(_HELD_BY), delete(tables.slots).where(_HELD_BY)


@cache
def _known(dialect: str) -> Statement:
    of = tables.events.c
    return select(of.id, of.arrived).where(among(dialect, of.id, "ids"))


@cache
def _mark_routed(dialect: str) -> Update:
    table = tables.events
    return update(table).where(among(dialect, table.c.id, "ids")).values(unrouted_since=None)


LASTING = (tables.apps.name, tables.schedules.name, tables.subscriptions.name)
"""Of these tables what was read is kept until they are written. Those of commits have a lock of their own."""


class SqlTransaction(
    KnowingReader,
    MaintenanceWriter,
    QueueWriter,
    RecordWriter,
    TallyWriter,
    RetentionWriter,
):
    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        # Arrivals of events that the store holds, as this transaction knows, by id.
        self._held: dict[str, datetime] = {}

    def _lasts(self, table: str) -> bool:
        return table in LASTING and not self._has_written(table)

    def unrouted_events(self, limit: int) -> tuple[Event, ...]:
        found = super().unrouted_events(limit)
        self._held.update((event.id, event.arrived) for event in found)
        return found

    def rename(self, names: Renames) -> None:
        # What few processes do.
        from tidegate.scheduler.store.renamed import rename_records
        from tidegate.scheduler.store.sql.rename import rename_rows

        self.settle()
        self._unfinished.clear()
        self._cursors.clear()
        rename_rows(self._connection, names)
        rename_records(self, names)

    def commitments(self) -> tuple[Commitment, ...]:
        """From here on no other one begins before the transaction ends."""
        lock_commits(self._connection)
        return super().commitments()

    def jobs(self, **wanted: Unpack[JobsWanted]) -> tuple[Job, ...]:
        return self._noted(super().jobs(**wanted))

    def due_jobs(
        self, now: datetime, limit: int, after: tuple[datetime, str] | None = None
    ) -> tuple[Job, ...]:
        return self._noted(super().due_jobs(now, limit, after))

    def queued_jobs(self, queue: str, after: str, limit: int) -> tuple[Job, ...]:
        return self._noted(super().queued_jobs(queue, after, limit))

    def put_schedules(self, schedules: Sequence[ScheduleState]) -> None:
        self._put(SCHEDULES, schedules)

    def delete_schedules(self, refs: Collection[str]) -> None:
        self._delete(tables.schedules.c.ref, refs)
        self._delete(tables.subscriptions.c.schedule, refs)

    def add_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        if not events:
            return ()
        known = self._known_events(event.id for event in events)
        pruned = self.pruned(PrunedKind.EVENT, [event.id for event in events if event.id not in known])
        new: dict[str, Event] = {}
        for event in events:
            if event.id not in known and event.id not in pruned:
                new.setdefault(event.id, event)
        self._put(EVENTS, tuple(new.values()), on_conflict="leave")
        self._count_events(new.values())
        self._held.update(known)
        self._held.update((event.id, event.arrived) for event in new.values())
        return tuple(new.values())

    def mark_routed(self, event_ids: Collection[str]) -> None:
        if event_ids:
            self._connection.execute(_mark_routed(self._dialect), {"ids": listed(self._dialect, event_ids)})

    def add_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        wanted = {each.event.id for each in deliveries} - self._held.keys()
        self._held.update(self._known_events(wanted))
        missing = wanted - self._held.keys()
        if missing:
            raise StoreError(f"a delivery of event {min(missing)}, which the store does not hold")
        self._take_out({each.job for each in deliveries if each.job is not None})
        self._count_fires_in_a_row(deliveries)
        rows = [delivery_row(each, self._held[each.event.id]) for each in deliveries]
        bulk.insert(self._connection, tables.deliveries, DELIVERY_WRITTEN, rows, on_conflict="leave")

    def remove_deliveries(self, deliveries: Sequence[Delivery], counted: Collection[str] = ()) -> None:
        jobs = {each.job for each in deliveries if each.job is not None}
        self._take_out(jobs)
        self.delete_tallies(jobs - set(counted))
        self.remove_counted(deliveries)
        keys = [delivery_key(each) for each in deliveries]
        bulk.delete(self._connection, tables.deliveries, DELIVERY_KEY, keys)

    def put_jobs(self, jobs: Sequence[Job]) -> None:
        self._count_jobs(jobs)
        self._put(JOBS, jobs)
        self._enter_queues(jobs)
        self.delete_tallies([job.id for job in jobs if not job.waiting])

    def put_edges(self, edges: Mapping[str, Collection[str]]) -> None:
        self._delete(tables.edges.c.job, edges)
        rows = [(upstream, job) for job, each in edges.items() for upstream in sorted(set(each))]
        bulk.insert(self._connection, tables.edges, ("upstream", "job"), rows, on_conflict="leave")

    def take_slots(self, taken: Mapping[str, Collection[str]]) -> None:
        rows = [(resource, holder) for holder, each in taken.items() for resource in sorted(set(each))]
        bulk.insert(self._connection, tables.slots, ("resource", "holder"), rows, on_conflict="leave")

    def release_slots(self, holder: str) -> tuple[str, ...]:
        held = self._connection.execute(HELD_SLOTS, {"held_by": holder}).scalars().all()
        if held:
            self._connection.execute(RELEASE, {"held_by": holder})
        return tuple(sorted(held))

    def add_launches(self, launches: Sequence[Launched]) -> None:
        self._count_launches(launches)
        self._put(LAUNCHES, launches, on_conflict="leave")

    def put_runs(self, runs: Sequence[Run]) -> None:
        self._count_runs(runs)
        self._put(RUNS, runs)

    def claim(self, job: str, attempt: int, run_id: str, at: datetime) -> str:
        row = (job, attempt, run_id, microseconds(at))
        names = ("job", "attempt", "run_id", "at")
        bulk.insert(self._connection, tables.claims, names, [row], on_conflict="leave")
        return self.claim_of(job, attempt) or run_id

    def set_cursor(self, name: str, value: Any) -> None:
        if value is None:
            text = None
            bulk.delete(self._connection, tables.cursors, ("name",), [(name,)])
        else:
            text = msgspec.json.encode(value).decode()
            row = (name, text)
            bulk.insert(self._connection, tables.cursors, ("name", "value"), [row], on_conflict="replace")
        self._cursors[name] = text
        if name.partition(":")[0] not in PULSES:
            self._connection.info[CHANGED] = True

    def add_journal(self, entries: Sequence[Entry]) -> None:
        self._put(JOURNAL, entries, on_conflict="fail")

    def ledger(
        self, *, app: str | None = None, after: str = "", limit: int | None = None
    ) -> tuple[LedgerRow, ...]:
        self.settle()
        return super().ledger(app=app, after=after, limit=limit)

    def counts(self) -> Counts:
        self.settle()
        return super().counts()

    def forget_events(self, ids: Collection[str]) -> int:
        for id in ids:
            self._held.pop(id, None)
        return super().forget_events(ids)

    def take_back_events(self, ids: Collection[str]) -> int:
        for id in ids:
            self._held.pop(id, None)
        return super().take_back_events(ids)

    def set_back(self, now: datetime) -> None:
        super().set_back(now)
        self._held = {id: min(at, now) for id, at in self._held.items()}

    def _known_events(self, ids: Iterable[str]) -> dict[str, datetime]:
        """Return those of these events that the store holds, with their arrivals."""
        wanted = set(ids)
        if not wanted:
            return {}
        found = self._connection.execute(_known(self._dialect), {"ids": listed(self._dialect, wanted)})
        return {row.id: row.arrived for row in found.all()}
