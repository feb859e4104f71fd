"""Pages of long lists in memory."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime
from typing import Any

from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.answers import JobCount, counts_order
from tidegate.scheduler.store.memory.tables import Tables
from tidegate.scheduler.store.wanted import JobsWanted, SchedulesWanted


class PageReader:
    """See `EngineReader`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def schedules_page(self, wanted: SchedulesWanted, limit: int) -> tuple[ScheduleState, ...]:
        """See `EngineReader.schedules_page`."""
        found = [
            state
            for state in self._tables.schedules.values()
            if wanted.app in (None, state.app)
            and wanted.program in (None, state.spec.program)
            and wanted.kind in (None, state.spec.trigger.kind)
            and wanted.status in (None, state.status)
            and (wanted.after is None or state.ref > wanted.after)
        ]
        return tuple(sorted(found, key=lambda state: state.ref)[:limit])

    def schedule_count(self, app: str | None = None) -> int:
        """See `EngineReader.schedule_count`."""
        return sum(app in (None, state.app) for state in self._tables.schedules.values())

    def newest_jobs(self, wanted: JobsWanted, limit: int) -> tuple[Job, ...]:
        """See `EngineReader.newest_jobs`."""
        found = [
            job
            for job in self._tables.jobs.values()
            if (wanted.apps is None or job.app in wanted.apps)
            and wanted.schedule in (None, job.schedule)
            and wanted.state in (None, job.state)
            and wanted.reason in (None, job.reason)
            and (wanted.since is None or job.opened_at >= wanted.since)
            and (wanted.ended_since is None or _ended_since(job, wanted.ended_since))
            and (wanted.before is None or (job.opened_at, job.id) < wanted.before)
        ]
        return tuple(sorted(found, key=lambda job: (job.opened_at, job.id), reverse=True)[:limit])

    def job_counts(
        self, states: Collection[JobState], ended_since: datetime | None = None
    ) -> tuple[JobCount, ...]:
        """See `EngineReader.job_counts`."""
        groups: dict[Any, list[Job]] = {}
        for job in self._tables.jobs.values():
            if job.state in states and (ended_since is None or _ended_since(job, ended_since)):
                groups.setdefault((job.app, job.state, job.reason), []).append(job)
        found = (
            JobCount(
                app=app,
                state=state,
                reason=reason,
                jobs=len(jobs),
                oldest=min(job.opened_at for job in jobs),
            )
            for (app, state, reason), jobs in groups.items()
        )
        return tuple(sorted(found, key=counts_order))

    def backfill_counts(self, first: int, last: int) -> dict[int, dict[JobState, int]]:
        """See `EngineReader.backfill_counts`."""
        found: dict[int, Counter[JobState]] = {}
        for job in self._tables.jobs.values():
            if job.instance is None or job.instance.empty or job.state is JobState.DISCARDED:
                continue
            if job.instance.number > 0 and first <= job.instance.number <= last:
                found.setdefault(job.instance.number, Counter())[job.state] += 1
        return {number: dict(states) for number, states in found.items()}

    def deployments(self, before: int | None, limit: int) -> tuple[tuple[int, Entry], ...]:
        """See `EngineReader.deployments`."""
        every = zip(self._tables.numbers, self._tables.journal, strict=True)
        found = [
            (number, entry)
            for number, entry in every
            if entry.kind is EntryKind.DEPLOY and (before is None or number < before)
        ]
        return tuple(found[::-1][:limit])

    def newest_deployment(self) -> tuple[int, datetime] | None:
        """See `EngineReader.newest_deployment`."""
        return next(((number, entry.at) for number, entry in self.deployments(None, 1)), None)


def _ended_since(job: Job, since: datetime) -> bool:
    return job.ended_at is not None and job.ended_at >= since
