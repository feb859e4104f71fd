"""Retention in the reference store: what may be pruned, and the sums of the ledger."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from tests.doubles.reference.tables import ReferenceTables
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.records.alert import Alert
from tidegate.scheduler.model.records.expected import ExpectedPeriod
from tidegate.scheduler.model.records.session import Session
from tidegate.scheduler.model.retention import (
    LedgerSum,
    OldEvent,
    OldJob,
    OldRun,
    OpenInstance,
    PrunedKind,
    Snapshot,
)
from tidegate.scheduler.model.run import Launched
from tidegate.scheduler.store.answers import LedgerRow, Position, TableSize
from tidegate.scheduler.store.ledger import ledger_rows, summed
from tidegate.scheduler.store.memory.reader import MemoryReader
from tidegate.scheduler.store.memory.store import MemoryTransaction

EARLIEST = datetime.min.replace(tzinfo=UTC)

T = TypeVar("T")


def _page(
    rows: Iterable[T], key: Callable[[T], Position], before: datetime, after: Position | None, limit: int
) -> list[T]:
    found = [row for row in rows if key(row)[0] < before and (after is None or key(row) > after)]
    return sorted(found, key=key)[:limit]


class RetentionReader(MemoryReader):
    """Reads what may be pruned, and what was."""

    _tables: ReferenceTables

    def __init__(self, tables: ReferenceTables) -> None:
        super().__init__(tables)

    def pruned(self, kind: PrunedKind, ids: Collection[str]) -> frozenset[str]:
        return frozenset(id for id in ids if (kind, id) in self._tables.pruned)

    def old_jobs(self, before: datetime, after: Position | None, limit: int) -> tuple[OldJob, ...]:
        held = self._tables
        page = _page(held.jobs.values(), lambda job: (job.opened_at, job.id), before, after, limit)
        ended = {run.run_id for run in held.runs.values() if run.ended_at is not None}
        at_work = {job for (job, _), (run, _) in held.claims.items() if run not in ended}
        at_work |= {run.job for run in held.runs.values() if run.active and run.job is not None}
        unfinished = (id for id in held.edges if id in held.jobs and held.jobs[id].state not in FINISHED)
        awaited = {upstream for id in unfinished for upstream in held.edges[id]}
        return tuple(OldJob(job=job, at_work=job.id in at_work, waited_for=job.id in awaited) for job in page)

    def open_instances(self) -> tuple[OpenInstance, ...]:
        found = [
            (job.schedule, job.instance.number, job.instance.scheduled)
            for job in self._tables.jobs.values()
            if job.instance is not None and job.state not in FINISHED
        ]
        return tuple(OpenInstance(task=task, number=n, scheduled=at) for task, n, at in sorted(found))

    def next_real(self, task: str, number: int, scheduled: datetime) -> datetime | None:
        found = (
            job.instance.scheduled
            for job in self._tables.jobs.values()
            if job.instance is not None and job.schedule == task and job.state is not JobState.DISCARDED
            if job.instance.number == number and not job.instance.empty
        )
        return min((at for at in found if at > scheduled), default=None)

    def old_events(self, before: datetime, after: Position | None, limit: int) -> tuple[OldEvent, ...]:
        held = self._tables
        page = _page(held.events.values(), lambda event: (event.arrived, event.id), before, after, limit)
        in_jobs = {event for job, marks in held.deliveries.items() if job in held.jobs for event, *_ in marks}
        newest: dict[tuple[str, str | None], Position] = {}
        for event in held.events.values():
            if event.origin is None:
                at, of = (event.arrived, event.id), (event.key, event.partition)
                newest[of] = max(newest.get(of, at), at)
        return tuple(
            OldEvent(
                event=event,
                unrouted=event.id in held.unrouted,
                has_job=event.id in in_jobs,
                superseded=event.partition is None
                or (event.arrived, event.id) < newest.get((event.key, event.partition), (EARLIEST, "")),
                original_held=event.origin in held.events,
            )
            for event in page
        )

    def old_runs(self, before: datetime, after: Position | None, limit: int) -> tuple[OldRun, ...]:
        page = _page(self._tables.runs.values(), lambda run: (run.seen_at, run.run_id), before, after, limit)
        return tuple(OldRun(run=run, has_job=run.job in self._tables.jobs) for run in page)

    def old_launches(self, before: datetime, limit: int) -> tuple[str, ...]:
        every = ((at, holder) for holder, (_, at) in self._tables.launches.items() if at < before)
        return tuple(holder for _, holder in sorted(every)[:limit])

    def events_of_jobs(self, jobs: Collection[str]) -> tuple[LedgerSum, ...]:
        found = (group for group in self._groups() if group.job is not None and group.job in jobs)
        return summed((group.schedule, group.state, group.reason, group.at, 1) for group in found)

    def events_without_job(self, events: Collection[str]) -> tuple[LedgerSum, ...]:
        found = (group for group in self._groups() if group.job is None and group.event in events)
        return summed((group.schedule, None, group.reason, group.at, group.events) for group in found)

    def snapshot(self, at: datetime | None = None) -> Snapshot | None:
        found = (each for each in self._tables.snapshots.values() if at is None or each.at <= at)
        return max(found, key=lambda each: each.number, default=None)

    def snapshots(self) -> tuple[tuple[int, datetime], ...]:
        return tuple((number, each.at) for number, each in sorted(self._tables.snapshots.items()))

    def slot_holders(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for resource, holders in sorted(self._tables.slots.items()):
            for holder in holders:
                found.setdefault(holder, []).append(resource)
        return {holder: tuple(resources) for holder, resources in found.items()}

    def launched_since(self, since: datetime) -> tuple[Launched, ...]:
        found = ((at, holder, program) for holder, (program, at) in self._tables.launches.items())
        newer = sorted(each for each in found if each[0] > since)
        return tuple(Launched(program=program, holder=holder, at=at) for at, holder, program in newer)

    def sizes(self) -> tuple[TableSize, ...]:
        """Only the tables that grow are counted."""
        held = self._tables
        counted = {"events": held.events, "jobs": held.jobs, "journal": held.journal, "runs": held.runs}
        return tuple(
            TableSize(table=name, rows=len(rows), bytes=None, oldest=None)
            for name, rows in sorted(counted.items())
        )

    def ledger(
        self, *, app: str | None = None, after: str = "", limit: int | None = None
    ) -> tuple[LedgerRow, ...]:
        groups = [
            (group.schedule, group.state, group.reason, group.events)
            for group in self._groups()
            if app is None or group.schedule.startswith(f"{app}/")
        ]
        sums = [
            (schedule, outcome, reason, events)
            for (schedule, _, outcome, reason), events in self._tables.sums.items()
            if app is None or schedule.startswith(f"{app}/")
        ]
        return tuple(row for row in ledger_rows(groups, sums) if row.schedule > after)[:limit]


class RetentionWriter(RetentionReader, MemoryTransaction):
    """Prunes rows."""

    def drop_jobs(self, ids: Collection[str]) -> None:
        self._tables.own("jobs", "waiting", "claims", "edges", "operation_runs", "running", "pruned")
        held, gone = self._tables, set(ids)
        found = [held.jobs[id] for id in sorted(gone) if id in held.jobs]
        held.pruned.update({(PrunedKind.DISCARDED_JOB, job.id): None for job in found if _discarded(job)})
        held.claims = {key: value for key, value in held.claims.items() if key[0] not in gone}
        edges = {
            job: tuple(one for one in each if one not in gone)
            for job, each in held.edges.items()
            if job not in gone
        }
        held.edges = {job: each for job, each in edges.items() if each}
        for id in gone:
            held.operation_runs.pop(id, None)
            held.running.pop(id, None)
            held.waiting.pop(id, None)
            held.jobs.pop(id, None)

    def forget_events(self, ids: Collection[str]) -> int:
        self._tables.own("pruned")
        self._tables.pruned.update({(PrunedKind.EVENT, id): None for id in ids})
        return self.take_back_events(ids)

    def forget_runs(self, ids: Collection[str]) -> None:
        self._tables.own("runs", "pruned")
        for id in ids:
            self._tables.runs.pop(id, None)
            self._tables.pruned[PrunedKind.RUN, id] = None

    def drop_journal(self, numbers: Collection[int]) -> None:
        self._tables.own("journal", "numbers")
        gone, held = set(numbers), self._tables
        kept = [place for place, number in enumerate(held.numbers) if number not in gone]
        held.journal = [held.journal[place] for place in kept]
        held.numbers = [held.numbers[place] for place in kept]

    def add_sums(self, sums: Iterable[LedgerSum]) -> None:
        self._tables.own("sums")
        for each in sums:
            key = (each.schedule, each.day, each.outcome, each.reason)
            self._tables.sums[key] = self._tables.sums.get(key, 0) + each.events

    def put_snapshot(self, snapshot: Snapshot) -> None:
        self._tables.own("snapshots")
        self._tables.snapshots[snapshot.number] = snapshot

    def drop_snapshots(self, numbers: Sequence[int]) -> None:
        self._tables.own("snapshots")
        for number in numbers:
            self._tables.snapshots.pop(number, None)

    def drop_old(self, kind: Kind[Any], before: datetime, limit: int) -> int:
        over = ((_over_at(each), kind.key_of(each)) for each in self.records(kind))
        old = sorted((at, key) for at, key in over if at is not None and at < before)[:limit]
        self.drop_records(kind, [key for _, key in old])
        return len(old)


def _over_at(value: Any) -> datetime | None:
    """Return since when a record is over; None if it is not."""
    match value:
        case Alert():
            return value.ended_at if value.next_at is None else None
        case ExpectedPeriod():
            return value.due_at if value.late_at is not None else None
        case Session():
            return value.expires_at
        case _:
            return value.at if value.owed_since is None else None


def _discarded(job: Job) -> bool:
    return job.state is JobState.DISCARDED
