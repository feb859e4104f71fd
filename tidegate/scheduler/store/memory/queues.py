"""Queues of blocked jobs in memory."""

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec

from tidegate.scheduler.decision.launch.order import launch_rank
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.queue import needs_of, queue_of
from tidegate.scheduler.store.memory.tables import Tables


class QueueReader:
    """See `EngineReader`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def blocked_jobs(self, resources: Collection[str]) -> tuple[Job, ...]:
        """See `EngineReader.blocked_jobs`."""
        waiting = (self._tables.jobs[id] for id in sorted(self._tables.waiting))
        return tuple(job for job in waiting if job.blocked_on in resources)

    def woken(self, until: datetime, limit: int | None = None) -> tuple[tuple[str, datetime], ...]:
        """See `EngineReader.woken`."""
        rows = [
            (at, queue) for (_, queue), at in self._tables.queues.items() if at is not None and at <= until
        ]
        found: dict[str, datetime] = {}
        for at, queue in sorted(rows)[:limit]:
            found.setdefault(queue, at)
        return tuple(found.items())

    def queued_jobs(self, queue: str, after: str, limit: int) -> tuple[Job, ...]:
        """See `EngineReader.queued_jobs`."""
        waiting = (self._tables.jobs[id] for id in self._tables.waiting)
        places = {launch_rank(job): job for job in waiting if queue_of(job) == queue}
        return tuple(places[rank] for rank in sorted(places) if rank > after)[:limit]


class QueueWriter(QueueReader):
    """See `EngineTransaction`."""

    def wake(self, resources: Collection[str], at: datetime) -> None:
        """See `EngineTransaction.wake`."""
        self._tables.own("queues", "jobs")
        for job in self.blocked_jobs(resources):
            if queue_of(job) is None and (job.next_check_at is None or job.next_check_at > at):
                self._tables.jobs[job.id] = msgspec.structs.replace(job, next_check_at=at)
        for (resource, queue), woken in self._tables.queues.items():
            if resource in resources and (woken is None or woken > at):
                self._tables.queues[resource, queue] = at

    def looked_at(self, queues: Collection[str]) -> None:
        """See `EngineTransaction.looked_at`."""
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
