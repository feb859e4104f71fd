"""Jobs in memory: the newest ones, what they have collected, and the queues of blocked ones."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Unpack

import msgspec

from tidegate.scheduler.model.event import Delivery, Report, delivery_order, report_of
from tidegate.scheduler.model.job import FINISHED, SHORT_DIGITS, WAITING, Job, JobState, hash_of
from tidegate.scheduler.model.launch_order import launch_rank, offer_rank
from tidegate.scheduler.model.queue import needs_of, queue_of
from tidegate.scheduler.store.memory.tables import DeliveryKey, DeliveryMark, Tables
from tidegate.scheduler.store.wanted import JobsWanted, open_for


class JobReader:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def jobs(self, **wanted: Unpack[JobsWanted]) -> tuple[Job, ...]:
        ids, limit = wanted.get("ids"), wanted.get("limit")
        jobs: Iterable[Job] = self._tables.jobs.values()
        if ids is None:
            ids = self._in_states(frozenset(wanted.get("states") or JobState), wanted.get("blocked_on"))
        if ids is not None:
            jobs = (self._tables.jobs[id] for id in set(ids) if id in self._tables.jobs)
        found = sorted(_matching(jobs, wanted), key=lambda job: (job.opened_at, job.id))
        return tuple(found if limit is None else found[max(0, len(found) - limit) :])

    def _in_states(self, states: frozenset[JobState], blocked_on: object) -> Collection[str] | None:
        """Return the ids of at least the jobs in some states; None if they may be all jobs."""
        if blocked_on is not None or states <= WAITING:
            return self._tables.waiting
        if states == frozenset({JobState.PENDING_LAUNCH}):
            return self._tables.decided
        return self._tables.going if states.isdisjoint(FINISHED) else None

    def backfill_counts(self, first: int, last: int) -> dict[int, dict[JobState, int]]:
        found: dict[int, Counter[JobState]] = {}
        for job in self._tables.jobs.values():
            if job.instance is None or job.instance.empty or job.state is JobState.DISCARDED:
                continue
            if job.instance.number > 0 and first <= job.instance.number <= last:
                found.setdefault(job.instance.number, Counter())[job.state] += 1
        return {number: dict(states) for number, states in found.items()}

    def deliveries(self, jobs: Collection[str]) -> dict[str, tuple[Delivery, ...]]:
        found: dict[str, tuple[Delivery, ...]] = {}
        for job in jobs:
            marks = self._tables.deliveries.get(job, {})
            each = [self._delivery(job, place, mark) for place, mark in marks.items() if mark.reason is None]
            each.sort(key=delivery_order)
            found[job] = tuple(each)
        return found

    def reports(self, job: str) -> tuple[Report, ...] | None:
        events = {each.event.id: each.event for each in self.deliveries([job])[job]}
        found = [report_of(event) for event in events.values()]
        return None if None in found else tuple(each for each in found if each is not None)

    def deliveries_of_events(self, events: Collection[str]) -> tuple[Delivery, ...]:
        found = [
            self._delivery(job, place, mark)
            for job, marks in self._tables.deliveries.items()
            for place, mark in marks.items()
            if place[0] in events
        ]
        return tuple(sorted(found, key=lambda d: (d.event.id, d.schedule, d.leaf, d.job or "")))

    def _delivery(self, job: str | None, place: DeliveryKey, mark: DeliveryMark) -> Delivery:
        event, schedule, leaf = place
        return Delivery(
            event=self._tables.events[event],
            schedule=schedule,
            leaf=leaf,
            job=job,
            reason=mark.reason,
            at=mark.at,
        )

    def woken(self, until: datetime, limit: int | None = None) -> tuple[tuple[str, datetime], ...]:
        rows = [
            (at, queue) for (_, queue), at in self._tables.queues.items() if at is not None and at <= until
        ]
        found: dict[str, datetime] = {}
        for at, queue in sorted(rows)[:limit]:
            found.setdefault(queue, at)
        return tuple(found.items())

    def queued_jobs(self, queue: str, after: str, limit: int) -> tuple[Job, ...]:
        waiting = (self._tables.jobs[id] for id in self._tables.waiting)
        places = {launch_rank(job): job for job in waiting if queue_of(job) == queue}
        return tuple(places[rank] for rank in sorted(places) if rank > after)[:limit]

    def jobs_to_offer(
        self, apps: Collection[str], now: datetime | None = None, limit: int | None = None
    ) -> tuple[Job, ...]:
        decided = self.jobs(apps=apps, states=(JobState.PENDING_LAUNCH,))
        places = {
            rank: job
            for job in decided
            if (rank := offer_rank(job)) is not None
            and (now is None or job.next_check_at is None or job.next_check_at <= now)
        }
        return tuple(places[rank] for rank in sorted(places))[:limit]


class JobWriter(JobReader):
    def wake(self, resources: Collection[str], at: datetime) -> None:
        self._tables.own("queues", "jobs")
        for job in self.jobs(blocked_on=resources):
            if queue_of(job) is None and (job.next_check_at is None or job.next_check_at > at):
                self._tables.jobs[job.id] = msgspec.structs.replace(job, next_check_at=at)
        for (resource, queue), woken in self._tables.queues.items():
            if resource in resources and (woken is None or woken > at):
                self._tables.queues[resource, queue] = at

    def mark_looked_at(self, queues: Collection[str]) -> None:
        self._tables.own("queues")
        known = {queue_of(self._tables.jobs[id]) for id in self._tables.waiting}
        for resource, queue in [key for key in self._tables.queues if key[1] in queues]:
            if queue in known:
                self._tables.queues[resource, queue] = None
            else:
                del self._tables.queues[resource, queue]

    def _enter_queues(self, jobs: Sequence[Job]) -> None:
        """Record the queues of jobs that are put."""
        self._tables.own("queues")
        for queue in {queue for queue in map(queue_of, jobs) if queue is not None}:
            for resource in needs_of(queue):
                self._tables.queues.setdefault((resource, queue), None)


NO_FILTERS = {"ids", "limit", "states"}
"""What is wanted of jobs that is found before any filter is asked."""


def _matching(jobs: Iterable[Job], wanted: JobsWanted) -> Iterable[Job]:
    """Return the jobs that match all filters but their ids; what is not wanted costs nothing."""
    # The state first: it is what leaves out most jobs at the least cost.
    if (states := wanted.get("states")) is not None:
        jobs = [job for job in jobs if job.state in states]
    return filter(_fits(wanted), jobs) if wanted.keys() - NO_FILTERS else jobs


def _fits(wanted: JobsWanted) -> Callable[[Job], bool]:
    """Return what says whether a job matches all filters but its id and its state."""
    schedules, apps = wanted.get("schedules"), wanted.get("apps")
    reason, blocked_on, before = wanted.get("reason"), wanted.get("blocked_on"), wanted.get("before")
    since, until, ended_since = wanted.get("since"), wanted.get("until"), wanted.get("ended_since")
    begins, hashes = wanted.get("begins"), wanted.get("hashes")
    repairs, operations, places = wanted.get("repairs"), wanted.get("operations"), wanted.get("open_for")
    return lambda job: (
        (schedules is None or job.schedule in schedules)
        and (apps is None or job.app in apps)
        and (not begins or job.id.startswith(begins) or hash_of(job.id).startswith(begins))
        and (hashes is None or hash_of(job.id)[:SHORT_DIGITS] in hashes)
        and reason in (None, job.reason)
        and (blocked_on is None or (job.blocked_on in blocked_on and job.decided_when_due))
        and (not repairs or job.repairs is not None)
        and (not operations or job.maintenance is not None)
        and (places is None or open_for(job) in places)
        and (since is None or job.opened_at >= since)
        and (until is None or job.opened_at <= until)
        and (ended_since is None or has_ended_since(job, ended_since))
        and (before is None or (job.opened_at, job.id) < before)
    )


def has_ended_since(job: Job, since: datetime) -> bool:
    """Return whether a job has ended then or later."""
    return job.ended_at is not None and job.ended_at >= since
