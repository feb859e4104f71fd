"""What became of events: a line for each schedule that has received one, for lists of events."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.ledger import outcome_of

MOST_UNROUTED = 10_000
"""A tick routes what has arrived; more than this wait only while no scheduler runs."""

REPEATS = ("origin", "only_for")
"""Facts of an event that repeats another."""

PRUNED = "PRUNED"
"""In place of the state of a job that is gone; an event may stay longer than the job that received it."""


class Received(Value, kw_only=True):
    """What became of an event in one schedule.

    Attributes:
        state: of the job; DISCARDED where the event has left it or never had one.
        reason: why it was discarded, else the reason of the job.
    """

    schedule: str
    leaf: str
    job: str | None
    state: str
    reason: str | None

    @property
    def outcome(self) -> str:
        """The column of the ledger, or "pruned"."""
        if self.state == PRUNED:
            return "pruned"
        return outcome_of(JobState(self.state), self.reason)[0]


class ListedEvent(Value, kw_only=True):
    """An event with what became of it.

    Attributes:
        routed: whether a tick has looked for the schedules that listen to it.
    """

    event: Event
    routed: bool
    received: tuple[Received, ...]

    @property
    def json(self) -> dict[str, Any]:
        """The event in JSON; only one that repeats another, or is of several fires, says so."""
        facts: dict[str, Any] = msgspec.to_builtins(self.event)
        if self.event.number == 1:
            del facts["number"], facts["first_at"]
        deliveries = [{**msgspec.to_builtins(each), "outcome": each.outcome} for each in self.received]
        return {
            **{name: fact for name, fact in facts.items() if name not in REPEATS or fact is not None},
            "routed": self.routed,
            "deliveries": deliveries,
        }


def listed_events(reader: EngineReader, events: Sequence[Event]) -> tuple[ListedEvent, ...]:
    """Return events with what became of them, in their order."""
    unrouted = {event.id for event in reader.unrouted_events(MOST_UNROUTED)}
    deliveries = reader.deliveries_of_events([event.id for event in events])
    jobs = {job.id: job for job in reader.jobs(ids={d.job for d in deliveries if d.job is not None})}
    received: dict[str, list[Received]] = {event.id: [] for event in events}
    for each in deliveries:
        received[each.event.id].append(_received(each, jobs.get(each.job or "")))
    return tuple(
        ListedEvent(event=event, routed=event.id not in unrouted, received=tuple(received[event.id]))
        for event in events
    )


def _received(delivery: Delivery, job: Job | None) -> Received:
    if delivery.reason or delivery.job is None:
        state = str(JobState.DISCARDED)
    else:
        state = PRUNED if job is None else job.state.value
    return Received(
        schedule=delivery.schedule,
        leaf=delivery.leaf,
        job=delivery.job,
        state=state,
        reason=delivery.reason if job is None or delivery.reason else job.reason,
    )
