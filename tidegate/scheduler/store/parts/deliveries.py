"""Deliveries: the events that jobs have collected, and what became of an event."""

from collections.abc import Collection
from typing import Protocol

from tidegate.scheduler.model.event import Delivery


class DeliveryRows(Protocol):
    """Reads deliveries."""

    def deliveries(self, jobs: Collection[str]) -> dict[str, tuple[Delivery, ...]]:
        """The deliveries of each job, by arrival, event id and leaf. Every id has an entry.

        An event that has left its job is left out.
        """
        ...

    def newest_deliveries(self, job: str, limit: int) -> tuple[Delivery, ...]:
        """The last of the deliveries of a job, in the order of `deliveries`."""
        ...

    def count_deliveries(self, job: str) -> int:
        """How many deliveries `deliveries` returns of a job."""
        ...

    def deliveries_of_events(self, events: Collection[str]) -> tuple[Delivery, ...]:
        """All deliveries of these events (ids), by event id, schedule, leaf and job."""
        ...
