"""Events: the immutable facts that triggers are rules over.

An event has a deterministic id, so that a fact reported twice is one event, and a key, by
which the reverse index finds the triggers that listen to it. Its time is when it happened; its
arrival is when the store first held it, and is what satisfies a trigger.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any

from tidegate.domain.launch_input import UpstreamRun
from tidegate.domain.model import Leaf
from tidegate.domain.part_name import app_of, whole_name
from tidegate.domain.value import Value
from tidegate.scheduler.model.instance import task_event_key
from tidegate.scheduler.model.kind import Kind

DIGEST_DIGITS = 32

NO_SCHEDULE = ""
"""`Event.only_for` of what a backfill with `quiet_downstream` does."""

PARTITION_KEY = "partition:"
"""Prefix of a dataset's whole name."""

CHECKED_KEY = "checked:"
"""The same for partitions whose checks have passed, to which `checks: passed` listens."""


class EventKind(StrEnum):
    """The kind of fact that an event states."""

    PARTITION = "partition"
    RUN = "run"
    FIRE = "fire"
    MANUAL = "manual"


class Event(Value, kw_only=True):
    """One fact.

    Attributes:
        id: deterministic; a second event with the same id is the same fact and is ignored.
        key: matched by the reverse index, see `partition_event_key`, `run_event_key`, `fire_event_key`.
        time: when it happened. Aware, UTC.
        arrived: when the store first held it. Aware, UTC.
        partition: partition key, "" for a dataset without partitions, None for other kinds of events.
        bytes, rows: size of the partition, if the reporter knows it.
        run_id: the run that caused the event, or that the event is about.
        scheduled_for: the instant of the cron, for a fire.
        day: the day to which the fire of a cron belongs, in the zone of that cron.
        run: facts that the triggered run may refer to, for the event of a run.
        own_job: the event opens its own job and joins no waiting job (rule 19).
        expired: the event is recorded but triggers nothing (a missed fire beyond its catch-up).
        number: of the fires in a row that it is of; more than one only if they are expired.
        first_at: of several fires the first; `time` is the last.
        origin: id of the event that this one repeats; None for a fact of its own.
        repairs: of a partition that a repair publishes: the job (id) whose result it replaces.
        provisional: of what a job does that was launched without members of its trigger.
        only_for: the only schedule ("app/name") that receives it; None for all that listen to its key, and
            `NO_SCHEDULE` for none.
        detail: a line for people, for example who reported the event.
    """

    id: str
    kind: EventKind
    key: str
    time: datetime
    arrived: datetime
    partition: str | None = None
    bytes: int | None = None
    rows: int | None = None
    run_id: str | None = None
    status: str | None = None
    scheduled_for: datetime | None = None
    day: str | None = None
    run: UpstreamRun | None = None
    own_job: bool = False
    expired: bool = False
    number: int = 1
    first_at: datetime | None = None
    origin: str | None = None
    repairs: str | None = None
    provisional: bool = False
    only_for: str | None = None
    detail: str = ""


def event_facts(event: Event) -> dict[str, str | int]:
    """Return the facts of an event that its journal entry keeps."""
    facts = {
        "kind": str(event.kind),
        "key": event.key,
        "arrived": event.arrived.isoformat(),
        "partition": event.partition,
        "bytes": event.bytes,
        "rows": event.rows,
        "scheduled_for": None if event.scheduled_for is None else event.scheduled_for.isoformat(),
        "day": event.day,
    }
    if event.first_at is not None:
        facts |= {"number": event.number, "first_at": event.first_at.isoformat(), "detail": event.detail}
    return {name: fact for name, fact in facts.items() if fact is not None}


def partition_event_key(app: str, dataset: str) -> str:
    """Return the key of the events of new partitions of a dataset.

    Args:
        app: the app that names the dataset, which may be another app's ("other/name").
    """
    return f"{PARTITION_KEY}{whole_name(app, dataset)}"


def checked_event_key(dataset: str) -> str:
    """Return the key of the events of partitions of a dataset ("app/name") whose checks have passed."""
    return f"{CHECKED_KEY}{dataset}"


def event_keys_of(dataset: str) -> tuple[str, str]:
    """Return the keys of all events about partitions of a dataset ("app/name"), to which schedules listen."""
    return partition_event_key("", dataset), checked_event_key(dataset)


def dataset_of_key(key: str) -> str:
    """Return the dataset ("app/name") in the key of an event of its partitions."""
    return key.removeprefix(PARTITION_KEY).removeprefix(CHECKED_KEY)


def publish_event_id(commit: str, dataset: str, partition: str) -> str:
    """Return the id of the event of a published partition; it is the same for every report.

    Args:
        dataset: "app/name".
        partition: "" for a dataset without partitions.
    """
    named = json.dumps([commit, dataset, partition])
    return "commit:" + hashlib.sha256(named.encode()).hexdigest()[:DIGEST_DIGITS]


def run_event_key(app: str, program: str, status: str) -> str:
    """Return the event key of a program's runs; `status` is started, succeeded, failed or completed."""
    return f"run:{whole_name(app, program)}:{status}"


def fire_event_key(schedule: str, leaf: str) -> str:
    """Return the key of the fires of one leaf of a schedule."""
    return f"fire:{schedule}:{leaf}"


def app_of_key(key: str) -> str:
    """Return the app of an event's key: "partition:app/name", "run:app/name:status", "fire:app/name:leaf"."""
    return app_of(key.partition(":")[2])


def listens_to(app: str, schedule: str, leaf: Leaf, program: str) -> tuple[str, ...]:
    """Return the event keys that a leaf of a trigger listens to; the leaf collects events of the first key.

    A leaf with a timer collects its own fires, and listens to the events that start the timer. The keys that
    name tasks have no events: they say which tasks wait for which (`model.instance.task_event_key`).

    Args:
        schedule: "app/name".
        program: name of the schedule's program in its app.
    """
    trigger = leaf.trigger
    dataset, runs = trigger.dataset_heard, trigger.runs_heard(program)
    if dataset is not None and trigger.counts_checked:
        return (checked_event_key(whole_name(app, dataset)),)
    partitions = () if dataset is None else (partition_event_key(app, dataset),)
    if trigger.tasks_heard is not None:
        own = task_event_key(whole_name(app, schedule))
        return (*partitions, own, *(task_event_key(whole_name(app, name)) for name in trigger.tasks_heard))
    fires = (fire_event_key(schedule, leaf.path),) if trigger.fires_by_clock else ()
    return (*fires, *partitions, *(() if runs is None else (run_event_key(app, *runs),)))


FORMER = "former "
"""What the leaf of a subscription begins with if only a former text had it."""


class Subscription(Value, kw_only=True):
    """One row of the reverse index: a leaf of a schedule listens to an event key.

    Where only a former text listened, the leaf is that of this text, after `FORMER` and the instant of the
    change: events from before the change may be read after it.
    """

    event_key: str
    schedule: str
    leaf: str

    @property
    def former(self) -> tuple[datetime, str] | None:
        """When the text changed that listened, and its leaf; None if the present text listens."""
        if not self.leaf.startswith(FORMER):
            return None
        until, _, leaf = self.leaf.removeprefix(FORMER).partition(" ")
        return datetime.fromisoformat(until), leaf


SUBSCRIPTIONS = Kind(
    name="subscriptions",
    value=Subscription,
    key=("event_key", "schedule", "leaf"),
    order=("schedule", "leaf", "event_key"),
)


class Delivery(Value, kw_only=True):
    """The delivery of one event to one leaf of one schedule.

    It belongs to a job, whose state says whether the event is pending, consumed or discarded. With a
    `reason` the event was discarded: it has left the job, or it was discarded on arrival and has no job. The
    deliveries are the ledger: every event has one for every schedule that it matches (rule 2).
    """

    event: Event
    schedule: str
    leaf: str
    job: str | None = None
    reason: str | None = None
    at: datetime


class Report(Value, kw_only=True):
    """What an event says that reports a partition, and nothing else; see `Event`."""

    key: str
    partition: str
    rows: int | None
    bytes: int | None
    time: datetime


FACTS = ("id", "kind", "key", "time", "arrived", "partition", "bytes", "rows", "run_id", "detail")
"""The fields of an event of which most say nothing else."""

FURTHER: Mapping[str, Any] = {
    field: default
    for field, default in zip(
        Event.__struct_fields__[-len(Event.__struct_defaults__) :], Event.__struct_defaults__, strict=True
    )
    if field not in FACTS
}
"""The other fields, each with what it has in an event that says nothing else."""


def report_of(event: Event) -> Report | None:
    """Return an event as a report; None if it says anything beside `FACTS`, or is not about a partition."""
    if event.kind is not EventKind.PARTITION or event.partition is None:
        return None
    if any(getattr(event, field) != default for field, default in FURTHER.items()):
        return None
    return Report(
        key=event.key, partition=event.partition, rows=event.rows, bytes=event.bytes, time=event.time
    )


delivery_order: Callable[[Delivery], tuple[datetime, str, str, str]] = attrgetter(
    "event.arrived", "event.id", "leaf", "schedule"
)
"""The sort key of a job's deliveries, as a store returns them."""
