"""The reader of the store in memory.

Every answer is computed from plain dictionaries in the most obvious way: this is the reference
for the SQL stores, so it must be simple, not fast.
"""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any, TypeVar, Unpack

import msgspec

from tidegate.domain.model import Constraint
from tidegate.scheduler.model.deployed import APPS, ScheduleState
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES
from tidegate.scheduler.model.retention import PrunedKind
from tidegate.scheduler.model.run import ProgramHistory, Run, RunStatus
from tidegate.scheduler.store.answers import AppHeader, Commitment
from tidegate.scheduler.store.engine_reader import constraints_of
from tidegate.scheduler.store.memory.history import HistoryReader
from tidegate.scheduler.store.memory.jobs import JobReader
from tidegate.scheduler.store.memory.maintenance import MaintenanceReader
from tidegate.scheduler.store.memory.records import RecordReader, TallyReader
from tidegate.scheduler.store.memory.tables import Tables
from tidegate.scheduler.store.wanted import SchedulesWanted

T = TypeVar("T")

EARLIEST = datetime.min.replace(tzinfo=UTC)


def _newest(values: list[T], limit: int | None) -> tuple[T, ...]:
    return tuple(values if limit is None else values[max(0, len(values) - limit) :])


def _history(ended: list[Run]) -> ProgramHistory:
    by_end = sorted(ended, key=lambda run: (run.ended_at or EARLIEST, run.run_id))
    succeeded = [run for run in by_end if run.status is RunStatus.SUCCEEDED]
    return ProgramHistory(
        last_success_started=max((run.started_at for run in succeeded if run.started_at), default=None),
        last_success_ended=succeeded[-1].ended_at if succeeded else None,
        last_ended=by_end[-1].ended_at if by_end else None,
    )


class MemoryReader(HistoryReader, JobReader, MaintenanceReader, RecordReader, TallyReader):
    def app_headers(self) -> tuple[AppHeader, ...]:
        return tuple(
            AppHeader(
                name=app.name,
                revision=app.revision,
                deployed_at=app.deployed_at,
                project=app.project,
                namespace=app.namespace,
                digest=app.digest,
            )
            for app in self.records(APPS)
        )

    def schedule_refs(self) -> tuple[str, ...]:
        return tuple(sorted(self._tables.schedules))

    def schedules(self, **wanted: Unpack[SchedulesWanted]) -> tuple[ScheduleState, ...]:
        refs, app, program = wanted.get("refs"), wanted.get("app"), wanted.get("program")
        kind, status, deadline = wanted.get("kind"), wanted.get("status"), wanted.get("deadline")
        found = tuple(
            state
            for ref, state in sorted(self._tables.schedules.items())
            if app in (None, state.app)
            and (refs is None or ref in refs)
            and program in (None, state.spec.program)
            and kind in (None, state.spec.trigger.kind)
            and status in (None, state.status)
            and (not deadline or state.spec.deadline is not None)
            and ref > (wanted.get("after") or "")
        )
        return found[: wanted.get("limit")]

    def due_schedules(self, now: datetime, limit: int, *, tasks: bool = False) -> tuple[ScheduleState, ...]:
        due = [
            (state.next_fire_at, state.ref, state)
            for state in self._tables.schedules.values()
            if state.next_fire_at is not None and state.next_fire_at <= now
            if (state.spec.task is not None if tasks else state.fires and state.spec.task is None)
        ]
        return tuple(state for _, _, state in sorted(due, key=lambda d: d[:2])[:limit])

    def constraints(
        self, kinds: Collection[type[Constraint]], *, app: str | None = None
    ) -> tuple[tuple[str, Constraint], ...]:
        return constraints_of(kinds, ((state.ref, state.spec) for state in self.schedules(app=app)))

    def pruned(self, kind: PrunedKind, ids: Collection[str]) -> frozenset[str]:
        """Nothing is pruned here."""
        return frozenset()

    def unrouted_events(self, limit: int) -> tuple[Event, ...]:
        events = (self._tables.events[id] for id in self._tables.unrouted)
        return tuple(sorted(events, key=lambda e: (e.arrived, e.id))[:limit])

    def events(
        self,
        *,
        key_prefix: str = "",
        key: str | None = None,
        partitions: Collection[str] | None = None,
        ids: Collection[str] | None = None,
        after: datetime | None = None,
        limit: int | None = 1000,
    ) -> tuple[Event, ...]:
        found = (
            event
            for event in self._tables.events.values()
            if event.key.startswith(key_prefix)
            and key in (None, event.key)
            and (partitions is None or event.partition in partitions)
            and (ids is None or event.id in ids)
            and (after is None or event.arrived > after)
        )
        return tuple(sorted(found, key=lambda e: (e.arrived, e.id), reverse=True)[:limit])

    def due_jobs(
        self, now: datetime, limit: int, after: tuple[datetime, str] | None = None
    ) -> tuple[Job, ...]:
        waiting = (self._tables.jobs[id] for id in self._tables.waiting)
        due = [
            (job.next_check_at, job.id, job)
            for job in waiting
            if job.next_check_at is not None
            and job.next_check_at <= now
            and (after is None or (job.next_check_at, job.id) > after)
        ]
        return tuple(job for _, _, job in sorted(due)[:limit])

    def instances(
        self,
        tasks: Collection[str] | None = None,
        first: datetime | None = None,
        last: datetime | None = None,
        *,
        backfill: int = 0,
    ) -> tuple[Job, ...]:
        return self._instances(
            lambda job, each: (
                each.number == backfill
                and (tasks is None or job.schedule in tasks)
                and (first is None or first <= each.scheduled)
                and (last is None or each.scheduled <= last)
            )
        )

    def instance_before(self, task: str, scheduled: datetime, *, backfill: int = 0) -> Job | None:
        found = self._instances(
            lambda job, each: (
                job.schedule == task
                and each.number == backfill
                and each.scheduled < scheduled
                and not each.empty
            )
        )
        return found[-1] if found else None

    def _instances(self, fits: Callable[[Job, Instance], bool]) -> tuple[Job, ...]:
        found = [
            (job.instance.scheduled, job.id, job)
            for job in self._tables.jobs.values()
            if job.instance is not None and job.state is not JobState.DISCARDED and fits(job, job.instance)
        ]
        return tuple(job for *_, job in sorted(found, key=lambda each: each[:2]))

    def consumers(self, jobs: Collection[str]) -> tuple[str, ...]:
        wanted = set(jobs)
        return tuple(sorted(job for job, each in self._tables.edges.items() if wanted & set(each)))

    def slots(self, resources: Collection[str]) -> dict[str, int]:
        return {resource: len(self._tables.slots.get(resource, ())) for resource in resources}

    def history(self, programs: Collection[str]) -> dict[str, ProgramHistory]:
        ended: dict[str, list[Run]] = {program: [] for program in programs}
        for run in self._tables.runs.values():
            if not run.active and run.ended_at is not None and run.program in ended:
                ended[run.program].append(run)
        return {program: _history(runs) for program, runs in ended.items()}

    def launches(self, programs: Collection[str], since: datetime) -> dict[str, tuple[datetime, ...]]:
        found: dict[str, list[datetime]] = {program: [] for program in programs}
        for program, at in self._tables.launches.values():
            if program in found and at > since:
                found[program].append(at)
        return {program: tuple(sorted(each)) for program, each in found.items()}

    def runs(
        self,
        *,
        ids: Collection[str] | None = None,
        jobs: Collection[str] | None = None,
        active: bool | None = None,
        limit: int | None = None,
    ) -> tuple[Run, ...]:
        known = self._tables.runs
        wanted = self._tables.active_runs if ids is None and active else ids
        runs = known.values() if wanted is None else [known[id] for id in set(wanted) if id in known]
        found = [
            run
            for run in runs
            if (jobs is None or run.job in jobs) and (active is None or run.active is active)
        ]
        return _newest(sorted(found, key=lambda r: (r.seen_at, r.run_id)), limit)

    def claim_of(self, job: str, attempt: int) -> str | None:
        claim = self._tables.claims.get((job, attempt))
        return None if claim is None else claim[0]

    def cursor(self, name: str) -> Any:
        value = self._tables.cursors.get(name)
        return None if value is None else msgspec.json.decode(value)

    def cursors(self, begins: str) -> dict[str, Any]:
        found = sorted(self._tables.cursors.items())
        return {name: msgspec.json.decode(value) for name, value in found if name.startswith(begins)}

    def commitments(self) -> tuple[Commitment, ...]:
        """Nothing is published here; a scenario may say that a publish is withheld."""
        return tuple(
            Commitment(commit=each.commit, names=each.datasets, unfinished=False, withheld=True)
            for each in self.records(WITHHELD_PUBLISHES)
        )

    def watermarked(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Nothing is read here."""
        return {}


def nothing() -> MemoryReader:
    """Return a reader of a store in which nothing is deployed, and nothing has happened."""
    return MemoryReader(Tables())
