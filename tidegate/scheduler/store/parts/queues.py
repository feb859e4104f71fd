"""The protocols of queues of blocked jobs; see `scheduler.store.protocol` and `scheduler.model.queue`."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from tidegate.scheduler.model.job import Job


class QueueRows(Protocol):
    """Reads queues."""

    def blocked_jobs(self, resources: Collection[str]) -> tuple[Job, ...]:
        """The jobs that wait, or gave back their slots, and are blocked on one of these resources, by id."""
        ...

    def woken(self, until: datetime, limit: int | None = None) -> tuple[tuple[str, datetime], ...]:
        """Queues that were woken for an instant up to `until`, with that instant, by instant and queue.

        A queue that was woken twice counts once, at the first instant.
        """
        ...

    def queued_jobs(self, queue: str, after: str, limit: int) -> tuple[Job, ...]:
        """The first jobs of a queue in launch order.

        Args:
            after: only those behind this place (`launch_rank`); "" for all.
            limit: only so many.
        """
        ...


class QueueChanges(Protocol):
    """Changes queues. Jobs enter and leave them with `put_jobs`."""

    def wake(self, resources: Collection[str], at: datetime) -> None:
        """Let jobs that are blocked on any of these resources be decided at `at`, if not sooner.

        Of jobs in queues only the queues that need any of these resources are woken.
        """
        ...

    def looked_at(self, queues: Collection[str]) -> None:
        """Let queues rest until they are woken again, and forget those without a job."""
        ...
