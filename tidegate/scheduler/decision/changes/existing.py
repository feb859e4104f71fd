"""Existing: the events of a dataset that a schedule has not collected, and their copies for it.

    events of the dataset ── newest of each partition ── not collected ──► copies, arriving now

An event is immutable and is delivered once, so a schedule that is to collect it again, or for the first
time although it has arrived before, gets a copy with the arrival of now: delays and timeouts count from
there. A trigger that counts every write gets every event, any other one the newest of each partition.
Pure; `scheduler.commands.existing_events` reads and writes.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.model import Leaf, leaves
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import DIGEST_DIGITS, Event, listens_to


def counting_leaves(state: ScheduleState, key: str) -> tuple[Leaf, ...]:
    """Return the leaves of a schedule that count the events of a key; a timer only listens to them."""
    return tuple(
        leaf
        for leaf in leaves(state.spec.trigger)
        if listens_to(state.app, state.ref, leaf, state.spec.program)[0] == key
    )


def uncollected(
    state: ScheduleState, events: Sequence[Event], collected: Collection[str], late: Collection[str]
) -> tuple[Event, ...]:
    """Return the events of one key that a schedule is to collect, by arrival.

    Args:
        events: all events of the key, copies included.
        collected: ids of the events that the schedule has; with a copy it has the event itself.
        late: ids of the events that are not routed yet; those since its activation will be.
    """
    had = {event.origin or event.id for event in events if event.id in collected}
    since = state.active_since
    coming = {event.id for event in events if event.id in late and (since is None or event.arrived >= since)}
    ordered = sorted(events, key=lambda event: (event.arrived, event.id))
    originals = [event for event in ordered if event.origin is None]
    newest = {event.partition: event.id for event in originals}
    return tuple(
        event
        for event in originals
        if (_each_counts(state, event) or newest[event.partition] == event.id)
        and event.id not in had
        and event.id not in coming
    )


def _each_counts(state: ScheduleState, event: Event) -> bool:
    """Return whether every write counts: the trigger says so, or it adds updates without a partition."""
    counting = [leaf.trigger for leaf in counting_leaves(state, event.key)]
    return any(
        trigger.counts_each_write or (not event.partition and not trigger.any_event_satisfies)
        for trigger in counting
    )


def copies(state: ScheduleState, events: Sequence[Event], now: datetime) -> Iterator[Event]:
    """Yield a copy of each event that only this schedule receives, now."""
    for event in events:
        named = json.dumps([state.ref, event.id, now.isoformat()])
        yield msgspec.structs.replace(
            event,
            id="again:" + hashlib.sha256(named.encode()).hexdigest()[:DIGEST_DIGITS],
            arrived=now,
            origin=event.id,
            only_for=state.ref,
        )
