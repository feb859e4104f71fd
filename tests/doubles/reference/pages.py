"""Lists, counts and partitions in the reference store."""

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Unpack

from tests.doubles.reference.tables import ReferenceTables
from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.event import PARTITION_KEY, Delivery, Event, app_of_key
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.retention import PrunedKind
from tidegate.scheduler.store.answers import (
    WHOLE,
    Count,
    Counts,
    Damage,
    JobCount,
    Landing,
    NewestJob,
    PartitionState,
    counts_order,
    of_event_key,
)
from tidegate.scheduler.store.ledger import outcome_of
from tidegate.scheduler.store.memory.jobs import has_ended_since
from tidegate.scheduler.store.memory.reader import MemoryReader
from tidegate.scheduler.store.memory.tables import DeliveryKey, DeliveryMark
from tidegate.scheduler.store.wanted import EventsWanted, InstancesWanted, Outcome


class PageReader(MemoryReader):
    """Reads what lists and metrics show."""

    _tables: ReferenceTables

    def __init__(self, tables: ReferenceTables) -> None:
        super().__init__(tables)

    def events_page(self, wanted: EventsWanted, limit: int) -> tuple[Event, ...]:
        found = [event for event in self._tables.events.values() if _is_wanted(event, wanted)]
        if wanted.of_delivery:
            ids = self._delivered(wanted)
            found = [event for event in found if event.id in ids]
        elif wanted.apps is not None:
            found = [event for event in found if app_of_key(event.key) in wanted.apps]
        return tuple(sorted(found, key=lambda event: (event.arrived, event.id), reverse=True)[:limit])

    def _delivered(self, wanted: EventsWanted) -> set[str]:
        """Return the events (ids) with a delivery that matches."""
        return {
            place[0]
            for job, marks in self._tables.deliveries.items()
            if wanted.job in (None, job)
            for place, mark in marks.items()
            if wanted.schedule in (None, place[1])
            and (wanted.apps is None or app_of(place[1]) in wanted.apps)
            and (not wanted.has_outcome or self._became(wanted, job, place, mark))
        }

    def _became(self, wanted: EventsWanted, job: str | None, place: DeliveryKey, mark: DeliveryMark) -> bool:
        """Return whether the event of a delivery has the wanted outcome and reason."""
        if mark.reason is not None:
            kept = job is not None and any(
                of[:2] == place[:2] and other.reason is None
                for of, other in self._tables.deliveries[job].items()
            )
            return (
                not kept
                and wanted.outcome in (None, Outcome.DISCARDED)
                and wanted.reason in (None, mark.reason)
            )
        found = None if job is None else self._tables.jobs.get(job)
        return (
            found is not None
            and wanted.schedule in (None, found.schedule)
            and wanted.outcome in (None, outcome_of(found.state, found.reason)[0])
            and wanted.reason in (None, found.reason)
        )

    def instances_page(
        self, states: Collection[JobState], **wanted: Unpack[InstancesWanted]
    ) -> tuple[Job, ...]:
        schedules, backfill = wanted.get("schedules"), wanted.get("backfill")
        first, last, after, before = (wanted.get(name) for name in ("first", "last", "after", "before"))

        def fits(job: Job, each: Instance) -> bool:
            place = (each.scheduled, job.id)
            return (
                job.state in states
                and (schedules is None or job.schedule in schedules)
                and backfill in (None, each.number)
                and not (wanted.get("of_none") and each.number)
                and (first is None or first <= each.scheduled)
                and (last is None or each.scheduled <= last)
                and not (wanted.get("empty") and not each.empty)
                and not (wanted.get("real") and each.empty)
                and (after is None or place > after)
                and (before is None or place < before)
            )

        found, newest = self._instances(fits), wanted.get("newest")
        return found[: wanted.get("oldest")] if newest is None else found[-newest:]

    def job_counts(
        self, states: Collection[JobState], ended_since: datetime | None = None, *, operations: bool = True
    ) -> tuple[JobCount, ...]:
        groups: dict[Any, list[Job]] = {}
        for job in self._tables.jobs.values():
            counts = operations or job.maintenance is None
            if job.state in states and counts and (ended_since is None or has_ended_since(job, ended_since)):
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

    def newest_deployment(self) -> tuple[int, datetime] | None:
        found = self.journal_page(kinds=[EntryKind.DEPLOY], limit=1)
        return next(((row.number, row.entry.at) for row in found), None)

    def partition_states(self, dataset: str, keys: Collection[str]) -> tuple[PartitionState, ...]:
        newest: dict[str, Event] = {}
        for key, event in sorted(self._landed(dataset), key=lambda each: (each[1].arrived, each[1].id)):
            if key in keys:
                newest[key] = event
        return tuple(self._state(key, newest[key]) for key in sorted(newest))

    def landings(self, datasets: Collection[str]) -> tuple[Landing, ...]:
        found = (
            Landing(dataset=dataset, partition=last.partition or WHOLE, at=last.arrived)
            for dataset in sorted(set(datasets))
            if (last := max(self._events(dataset), key=lambda each: (each.arrived, each.id), default=None))
        )
        return tuple(found)

    def newest_jobs(self, schedules: Collection[str]) -> tuple[NewestJob, ...]:
        found: dict[tuple[str, JobState], Job] = {}
        for job in sorted(self._tables.jobs.values(), key=lambda each: (each.opened_at, each.id)):
            counts = job.state is not JobState.DISCARDED and job.reason is not Reason.W_TIME
            if job.schedule in schedules and counts:
                found[job.schedule, job.state] = job
        return tuple(
            NewestJob(schedule=ref, state=state, key=job.key, opened_at=job.opened_at, ended_at=job.ended_at)
            for (ref, state), job in sorted(found.items())
        )

    def partition_ends(self, dataset: str, prefixes: Collection[str]) -> tuple[tuple[str, str], ...]:
        landed = [event.partition for event in self._events(dataset) if event.partition is not None]
        under = [[key for key in landed if key.startswith(prefix)] for prefix in set(prefixes)]
        return tuple(sorted((min(each), max(each)) for each in under if each))

    def partition_reports(self, dataset: str, keys: Collection[str], most: int) -> dict[str, int]:
        landed = [key for key, _ in self._landed(dataset)]
        return {key: min(landed.count(key), most) for key in keys}

    def _landed(self, dataset: str) -> list[tuple[str, Event]]:
        """Return the events of a dataset with their keys."""
        return [
            (event.partition or WHOLE, event) for event in self._events(dataset) if event.partition != WHOLE
        ]

    def _events(self, dataset: str) -> list[Event]:
        key = f"{PARTITION_KEY}{dataset}"
        return [event for event in self._tables.events.values() if event.key == key]

    def _state(self, key: str, event: Event) -> PartitionState:
        taken = {
            job
            for job, marks in self._tables.deliveries.items()
            for (id_, _, _), mark in marks.items()
            if job is not None and id_ == event.id and mark.reason is None
        }
        kept = {self._tables.jobs[job].state for job in taken if job in self._tables.jobs}
        gone = any(
            job not in self._tables.jobs and (PrunedKind.DISCARDED_JOB, job) not in self._tables.pruned
            for job in taken
        )
        return PartitionState(
            key=key,
            event=event.id,
            at=event.arrived,
            rows=event.rows,
            bytes=event.bytes,
            published=event.run_id is not None,
            consumed=JobState.SUCCEEDED in kept or gone,
            failed=JobState.FAILED in kept,
        )

    def late_jobs(self) -> dict[str, int]:
        late = (job for job in self._tables.jobs.values() if job.late_at is not None)
        return dict(sorted(Counter(job.schedule for job in late if job.state not in FINISHED).items()))

    def newest_deliveries(self, job: str, limit: int) -> tuple[Delivery, ...]:
        found = self.deliveries([job])[job]
        return found[max(0, len(found) - limit) :]

    def count_deliveries(self, job: str) -> int:
        return len(self.deliveries([job])[job])

    def damage(self) -> tuple[Damage, ...]:
        return ()

    def counts(self) -> Counts:
        held = self._tables
        dead = [
            job
            for job in held.jobs.values()
            if job.state is JobState.FAILED and job.reason is Reason.F_LAUNCH and job.maintenance is None
        ]
        finished = (job for job in held.jobs.values() if job.state in FINISHED)
        return Counts(
            schedules=_counted((state.app, state.status) for state in held.schedules.values()),
            runs=_counted((app_of(run.program), run.status) for run in held.runs.values()),
            launches=_counted((app_of(program),) for program, _ in held.launches.values()),
            events=_summed(_numbers(held.events.values())),
            finished_jobs=_counted((job.app, job.state, job.reason or "") for job in finished),
            outcomes=_summed(self._outcomes()),
            dead_letters=_counted((job.app,) for job in dead),
        )

    def _outcomes(self) -> Counter[tuple[str, ...]]:
        found: Counter[tuple[str, ...]] = Counter()
        for (schedule, _, outcome, reason), events in self._tables.sums.items():
            found[app_of(schedule), outcome, reason] += events
        for group in self._groups():
            found[app_of(group.schedule), *outcome_of(group.state, group.reason)] += group.events
        return found


def _numbers(events: Iterable[Event]) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for event in events:
        found[of_event_key(event.key)] += event.number
    return found


def _counted(places: Iterable[tuple[str, ...]]) -> tuple[Count, ...]:
    return _summed(Counter(places))


def _summed(found: Counter[tuple[str, ...]]) -> tuple[Count, ...]:
    named = sorted(((*map(str, place), "", "")[:3], number) for place, number in found.items())
    return tuple(
        Count(app=app, label=label, reason=reason, number=number) for (app, label, reason), number in named
    )


def _is_wanted(event: Event, wanted: EventsWanted) -> bool:
    return (
        wanted.key in (None, event.key)
        and event.key.startswith(wanted.key_prefix)
        and wanted.partition in (None, event.partition)
        and (wanted.since is None or event.arrived >= wanted.since)
        and (wanted.until is None or event.arrived < wanted.until)
        and (wanted.before is None or (event.arrived, event.id) < wanted.before)
    )
