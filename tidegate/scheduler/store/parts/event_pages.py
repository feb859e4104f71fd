"""The protocol of the list of events, which is read a page at a time; see `scheduler.store.protocol`."""

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from tidegate.domain.value import Value
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.reason import Reason


class Outcome(StrEnum):
    """What became of an event in a schedule: a column of the ledger."""

    SUCCEEDED = "succeeded"
    RUNNING = "running"
    FAILED = "failed"
    PENDING = "pending"
    DISCARDED = "discarded"


class EventsWanted(Value, kw_only=True):
    """Which events are listed: those that match all given filters.

    `schedule`, `job`, `outcome` and `reason` are of one delivery of the event. An event has an outcome as the
    ledger counts it: that of its job unless it has left the job. It has none in a job that was pruned.

    Attributes:
        key: the whole key.
        key_prefix: how the key begins.
        apps: of the schedule of the delivery, or where no filter is of a delivery, of the key.
        since: the earliest arrival.
        until: after the latest arrival.
        before: arrival and id of the event behind which the page begins.
    """

    key: str | None = None
    key_prefix: str = ""
    partition: str | None = None
    schedule: str | None = None
    job: str | None = None
    outcome: Outcome | None = None
    reason: Reason | None = None
    apps: Collection[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: tuple[datetime, str] | None = None

    @property
    def has_outcome(self) -> bool:
        """Whether a filter is of what became of the event."""
        return self.outcome is not None or self.reason is not None

    @property
    def of_delivery(self) -> bool:
        """Whether a filter is of a delivery."""
        return self.has_outcome or self.schedule is not None or self.job is not None


class EventPages(Protocol):
    """Reads pages of events."""

    def events_page(self, wanted: EventsWanted, limit: int) -> tuple[Event, ...]:
        """Events, the newest first by arrival, then id."""
        ...
