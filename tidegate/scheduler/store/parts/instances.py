"""The protocol of what a store says about instances of cycle tasks; see `scheduler.store.protocol`."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from tidegate.scheduler.model.job import Job


class InstanceRows(Protocol):
    """Reads instances; each question is answered by an index."""

    def instances(
        self, tasks: Collection[str], first: datetime, last: datetime, *, backfill: int = 0
    ) -> tuple[Job, ...]:
        """The instances of tasks whose scheduled time is in [first, last], by scheduled time, then id.

        Args:
            tasks: "app/name".
            backfill: the number of the backfill that they belong to; 0 for those of none.

        Returns:
            Instances that were not discarded.
        """
        ...

    def instance_before(self, task: str, scheduled: datetime, *, backfill: int = 0) -> Job | None:
        """The last instance of a task before a scheduled time, then by id; empty runs are passed over."""
        ...

    def backfill(self, number: int) -> tuple[Job, ...]:
        """The instances of a backfill that were not discarded, by scheduled time, then id."""
        ...
