"""The store in memory: for scenarios, simulations and tests, and the reference for the SQL stores.

It keeps nothing after the process. A transaction works on copies of the tables it writes to
(see `memory.tables`), and a commit is one assignment, so readers never wait and never see a
partial transaction.
"""

import threading
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import msgspec

from tidegate.compiler.plan.renames import Renames
from tidegate.scheduler.decision.changes.renamed import renamed_event, renamed_key, renamed_owner
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import SUBSCRIPTIONS, Delivery, Event
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.run import GAUGES, Launched, Run
from tidegate.scheduler.model.set_back import OF_JOBS, fields_set_back, not_ahead
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.store.memory.jobs import JobWriter
from tidegate.scheduler.store.memory.maintenance import MaintenanceWriter
from tidegate.scheduler.store.memory.reader import MemoryReader
from tidegate.scheduler.store.memory.records import RecordWriter, TallyWriter
from tidegate.scheduler.store.memory.tables import DeliveryMark, Tables, as_stored
from tidegate.scheduler.store.renamed import (
    rename_records,
    renamed_operation,
    renamed_resource,
    renamed_run,
)


class MemoryTransaction(MaintenanceWriter, JobWriter, RecordWriter, TallyWriter, MemoryReader):
    """Works on a fork of the committed tables."""

    def rename(self, names: Renames) -> None:
        rename_tables(self._tables, names)
        rename_records(self, names)

    def put_schedules(self, schedules: Sequence[ScheduleState]) -> None:
        self._tables.own("schedules")
        self._tables.schedules.update({state.ref: state for state in schedules})

    def delete_schedules(self, refs: Collection[str]) -> None:
        self._tables.own("schedules")
        for ref in refs:
            self._tables.schedules.pop(ref, None)
        listeners = self.records(SUBSCRIPTIONS, schedule=refs)
        self.drop_records(SUBSCRIPTIONS, [SUBSCRIPTIONS.key_of(each) for each in listeners])

    def add_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        self._tables.own("events", "unrouted")
        new: list[Event] = []
        for event in events:
            if event.id not in self._tables.events:
                self._tables.events[event.id] = event
                self._tables.unrouted[event.id] = None
                new.append(event)
        return tuple(new)

    def take_back_events(self, ids: Collection[str]) -> int:
        self._tables.own("events", "unrouted", "deliveries")
        held, gone = self._tables, set(ids)
        removed = 0
        for job, marks in held.deliveries.items():
            kept = {key: mark for key, mark in marks.items() if key[0] not in gone}
            if len(kept) < len(marks):
                removed += len(marks) - len(kept)
                held.deliveries[job] = kept
        for id in gone:
            held.events.pop(id, None)
            held.unrouted.pop(id, None)
        return removed

    def set_back(self, now: datetime) -> None:
        self._tables.own("events", "jobs", "runs", "launches")
        held = self._tables
        ahead = {event.id: event for event in self.events(after=now, limit=None)}
        held.events.update({id: msgspec.structs.replace(each, arrived=now) for id, each in ahead.items()})
        held.jobs.update({id: fields_set_back(job, OF_JOBS, now) for id, job in held.jobs.items()})
        held.runs.update({id: not_ahead(run, now) for id, run in held.runs.items()})
        held.launches.update(
            {holder: (program, min(at, now)) for holder, (program, at) in held.launches.items()}
        )
        self.put_records(GAUGES, [not_ahead(gauge, now) for gauge in self.records(GAUGES)])

    def mark_routed(self, event_ids: Collection[str]) -> None:
        self._tables.own("unrouted")
        for id in event_ids:
            self._tables.unrouted.pop(id, None)

    def add_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        missing = [each.event.id for each in deliveries if each.event.id not in self._tables.events]
        if missing:
            raise StoreError(f"a delivery of event {min(missing)}, which the store does not hold")
        self._tables.own("deliveries")
        copied: set[str | None] = set()
        for each in deliveries:
            if each.job not in copied:
                self._tables.deliveries[each.job] = dict(self._tables.deliveries.get(each.job, {}))
                copied.add(each.job)
            key = (each.event.id, each.schedule, each.leaf)
            self._tables.deliveries[each.job].setdefault(key, DeliveryMark(reason=each.reason, at=each.at))

    def remove_deliveries(self, deliveries: Sequence[Delivery], counted: Collection[str] = ()) -> None:
        self.delete_tallies({each.job for each in deliveries if each.job is not None} - set(counted))
        self.remove_counted(deliveries)
        self._tables.own("deliveries")
        for job in {each.job for each in deliveries}:
            gone = {(each.event.id, each.schedule, each.leaf) for each in deliveries if each.job == job}
            marks = self._tables.deliveries.get(job, {})
            self._tables.deliveries[job] = {key: mark for key, mark in marks.items() if key not in gone}

    def put_jobs(self, jobs: Sequence[Job]) -> None:
        self._tables.own("jobs", "waiting", "going", "decided")
        for job in jobs:
            self._tables.jobs[job.id] = job
            keep_if(self._tables.waiting, job.id, job.decided_when_due)
            keep_if(self._tables.decided, job.id, job.state is JobState.PENDING_LAUNCH)
            keep_if(self._tables.going, job.id, job.state not in FINISHED)
        self._enter_queues(jobs)
        self.delete_tallies([job.id for job in jobs if not job.waiting])

    def put_edges(self, edges: Mapping[str, Collection[str]]) -> None:
        self._tables.own("edges")
        self._tables.edges.update({job: tuple(sorted(set(each))) for job, each in edges.items()})

    def take_slots(self, taken: Mapping[str, Collection[str]]) -> None:
        self._tables.own("slots")
        holders: dict[str, set[str]] = {}
        for holder, resources in taken.items():
            for resource in resources:
                holders.setdefault(resource, set()).add(holder)
        for resource, more in holders.items():
            self._tables.slots[resource] = self._tables.slots.get(resource, frozenset()) | more

    def release_slots(self, holder: str) -> tuple[str, ...]:
        self._tables.own("slots")
        held = sorted(resource for resource, holders in self._tables.slots.items() if holder in holders)
        for resource in held:
            self._tables.slots[resource] -= {holder}
        return tuple(held)

    def add_launches(self, launches: Sequence[Launched]) -> None:
        self._tables.own("launches")
        for each in launches:
            self._tables.launches.setdefault(each.holder, (each.program, each.at))

    def drop_launches(self, holders: Collection[str]) -> None:
        self._tables.own("launches")
        for holder in holders:
            self._tables.launches.pop(holder, None)

    def put_runs(self, runs: Sequence[Run]) -> None:
        self._tables.own("runs", "active_runs")
        for run in runs:
            self._tables.runs[run.run_id] = run
            keep_if(self._tables.active_runs, run.run_id, run.active)

    def claim(self, job: str, attempt: int, run_id: str, at: datetime) -> str:
        self._tables.own("claims")
        return self._tables.claims.setdefault((job, attempt), (run_id, at))[0]

    def set_cursor(self, name: str, value: Any) -> None:
        self._tables.own("cursors")
        if value is None:
            self._tables.cursors.pop(name, None)
        else:
            self._tables.cursors[name] = msgspec.json.encode(value)

    def add_journal(self, entries: Sequence[Entry]) -> None:
        self._tables.own("journal", "numbers")
        first = self._tables.numbered + 1
        self._tables.journal.extend(as_stored(entry) for entry in entries)
        self._tables.numbers.extend(range(first, first + len(entries)))
        self._tables.numbered += len(entries)


class MemoryStore:
    """A store that lives and ends with the process.

    Attributes:
        committed: the tables as the last transaction left them; nothing changes them in place.
    """

    def __init__(self) -> None:
        self.committed = Tables()
        self._turn = threading.Lock()
        self._owner: int | None = None

    @contextmanager
    def reading(self) -> Generator[MemoryReader]:
        yield MemoryReader(self.committed)

    @contextmanager
    def transaction(self) -> Generator[MemoryTransaction]:
        if self._owner == threading.get_ident():
            # A mutex would block its own thread forever; a bug must not look like a hang.
            raise StoreError("this thread has a transaction of the store open already")
        with self._turn:
            self._owner = threading.get_ident()
            try:
                tables = self.committed.fork()
                yield MemoryTransaction(tables)
                self.committed = tables
            finally:
                self._owner = None

    def close(self) -> None:
        """There is nothing to release."""


def keep_if(ids: dict[str, None], id: str, kept: bool) -> None:
    """Have an id among these or not."""
    if kept:
        ids[id] = None
    else:
        ids.pop(id, None)


def rename_tables(tables: Tables, names: Renames) -> None:
    """Give rows their new names; apps and schedules are put by the caller, records are moved apart."""
    tables.own("events", "deliveries", "jobs", "launches", "runs", "journal", "cursors")
    tables.events = {id: renamed_event(event, names) for id, event in tables.events.items()}
    tables.deliveries = {
        job: {
            (event, names.schedule(schedule), leaf): mark for (event, schedule, leaf), mark in marks.items()
        }
        for job, marks in tables.deliveries.items()
    }
    tables.jobs = {
        id: renamed_operation(msgspec.structs.replace(job, schedule=renamed_owner(job, names)), names)
        for id, job in tables.jobs.items()
    }
    tables.cursors = {_renamed_cursor(name, names): value for name, value in tables.cursors.items()}
    tables.launches = {
        holder: (names.programs.get(program, program), at)
        for holder, (program, at) in tables.launches.items()
    }
    tables.runs = {
        id: msgspec.structs.replace(run, program=names.programs.get(run.program, run.program))
        for id, run in tables.runs.items()
    }
    tables.journal = [
        entry
        if entry.schedule is None
        else msgspec.structs.replace(entry, schedule=names.schedule(entry.schedule))
        for entry in tables.journal
    ]
    tables.own("slots", "operation_runs")
    tables.slots = {
        renamed_key(renamed_resource(resource, names), names): holders
        for resource, holders in tables.slots.items()
    }
    tables.operation_runs = {job: renamed_run(run, names) for job, run in tables.operation_runs.items()}


def _renamed_cursor(name: str, names: Renames) -> str:
    """Return the name of a cursor; that of a report of instances has the task in it."""
    for old, new in names.schedules.items():
        if name.startswith(f"report:{old}:"):
            return f"report:{new}:" + name.removeprefix(f"report:{old}:")
    return name
