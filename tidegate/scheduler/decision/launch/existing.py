"""Existing: the partitions that exist for a key of a schedule, as a job of a backfill gets them.

    datasets of its trigger ──► as if the trigger had collected the newest event of each partition
    other datasets that the program reads ──► in the manifest only

The job has no events of its own: nothing is delivered to it, and the ledger counts none. Pure.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from tidegate.domain.model import App, Schedule, leaves
from tidegate.domain.schedule_keys import keys_about, scheme_of_key
from tidegate.domain.value import Value
from tidegate.scheduler.decision.launch.input import manifest_of, sizes_of
from tidegate.scheduler.model.event import Delivery, Event, partition_event_key
from tidegate.scheduler.model.job import LaunchPlan


class Existing(Value, kw_only=True):
    """What exists for a key.

    Attributes:
        deliveries: the newest event of each partition that the trigger collects, by arrival.
        read: that of each other partition that the program reads.
    """

    deliveries: tuple[Delivery, ...]
    read: tuple[Event, ...]


def partitions_asked(app: App, schedule: Schedule, key: str) -> dict[str, tuple[str, ...]]:
    """Return the partitions about a key, by event key, of the datasets of a trigger and of what is read.

    Those without partitions, and those that the program writes, say nothing about a key.
    """
    own = scheme_of_key(app, schedule, key)
    program = app.programs.get(schedule.program)
    collected = [leaf.trigger.dataset_collected for leaf in leaves(schedule.trigger)]
    written = () if program is None else program.writes
    names = dict.fromkeys((*collected, *(() if program is None else program.reads)))
    found: dict[str, tuple[str, ...]] = {}
    for name in names:
        dataset = app.datasets.get(name or "")
        if own is None or dataset is None or dataset.partitions is None or name in written:
            continue
        found[partition_event_key(app.name, name or "")] = keys_about(dataset.partitions, key, own)
    return {event_key: keys for event_key, keys in found.items() if keys}


def newest_of_each(events: Iterable[Event]) -> tuple[Event, ...]:
    """Return the newest event of each partition, by arrival; a copy for one schedule says nothing new."""
    found: dict[tuple[str, str | None], Event] = {}
    for event in sorted(events, key=_place):
        if event.origin is None:
            found[event.key, event.partition] = event
    return tuple(sorted(found.values(), key=_place))


def existing(app: App, schedule: Schedule, ref: str, events: Iterable[Event]) -> Existing:
    """Return what exists for a key of a schedule ("app/name").

    Args:
        events: the newest event of each partition about the key.
    """
    hearing: dict[str, list[str]] = {}
    for leaf in leaves(schedule.trigger):
        dataset = leaf.trigger.dataset_collected
        if dataset is not None:
            hearing.setdefault(partition_event_key(app.name, dataset), []).append(leaf.path)
    deliveries: list[Delivery] = []
    read: list[Event] = []
    for event in events:
        paths = hearing.get(event.key, ())
        deliveries += [Delivery(event=event, schedule=ref, leaf=path, at=event.arrived) for path in paths]
        if not paths:
            read.append(event)
    return Existing(deliveries=tuple(deliveries), read=tuple(read))


def with_reads(plan: LaunchPlan, exists: Existing, app: str) -> LaunchPlan:
    """Return a launch plan whose manifest has what the program reads beside what its trigger collects."""
    if not exists.read:
        return plan
    times, sizes = [event.time for event in exists.read], sizes_of(exists.read, app)
    return msgspec.structs.replace(
        plan,
        manifest=dict(sorted({**plan.manifest, **manifest_of(sizes)}.items())),
        sizes=dict(sorted({**plan.sizes, **sizes}.items())),
        first_event_time=min((*times, *_some(plan.first_event_time))),
        last_event_time=max((*times, *_some(plan.last_event_time))),
    )


def is_stale(launch: LaunchPlan, decided_at: datetime | None, newest: Iterable[Event]) -> bool:
    """Return whether an event is newer than what a launch has had: its newest event, or else its decision."""
    had = launch.last_event_time or launch.now or decided_at
    return had is not None and any(event.time > had for event in newest)


def _place(event: Event) -> tuple[datetime, str]:
    return event.arrived, event.id


def _some(instant: datetime | None) -> Iterator[datetime]:
    if instant is not None:
        yield instant
