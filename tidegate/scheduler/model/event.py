"""Events: the immutable facts that triggers are rules over.

An event has a deterministic id, so that the same fact reported twice is one event, and a
key, by which the reverse index finds the triggers that listen to it. Event time is when it
happened; arrival time is when the store first held it, and is what satisfies a trigger.
"""

import hashlib
import json
from datetime import datetime
from enum import StrEnum

from tidegate.domain.model import Leaf
from tidegate.domain.upstream_run import UpstreamRun
from tidegate.domain.value import Value

DIGEST_DIGITS = 32


class EventKind(StrEnum):
    """What sort of fact an event states."""

    PARTITION = "partition"
    RUN = "run"
    FIRE = "fire"
    MANUAL = "manual"


class Event(Value, kw_only=True):
    """One fact.

    Attributes:
        id: deterministic; a second event of the same id is the same fact and is ignored.
        key: what the reverse index matches, see `partition_event_key` and its neighbours.
        time: when it happened. Aware, UTC.
        arrived: when the store first held it. Aware, UTC.
        partition: partition key, "" for a dataset without partitions, None for other kinds.
        bytes, rows: size of the partition where the reporter knows it.
        run_id: the run that caused or is the event.
        scheduled_for: for a fire, the instant of the cron.
        run: for a run's event, what the run it triggers may refer to.
        own_job: the event opens a job of its own whatever waits (rule 19).
        expired: the event is recorded but triggers nothing (a missed fire beyond its catch-up).
        detail: a line for people, for example who reported it.
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
    run: UpstreamRun | None = None
    own_job: bool = False
    expired: bool = False
    detail: str = ""


def event_facts(event: Event) -> dict[str, str | int]:
    """What the journal keeps of an event, so that it can be understood by itself."""
    facts = {
        "kind": str(event.kind),
        "key": event.key,
        "arrived": event.arrived.isoformat(),
        "partition": event.partition,
        "bytes": event.bytes,
        "rows": event.rows,
        "scheduled_for": None if event.scheduled_for is None else event.scheduled_for.isoformat(),
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def partition_event_key(app: str, dataset: str) -> str:
    """The key of the events of new partitions of a dataset."""
    return f"partition:{app}/{dataset}"


def publish_event_id(commit: str, dataset: str, partition: str) -> str:
    """The id of the event that a commit has published a partition, whoever reports it, and how often.

    Args:
        dataset: "app/name".
        partition: "" for a dataset without partitions.
    """
    named = json.dumps([commit, dataset, partition])
    return "commit:" + hashlib.sha256(named.encode()).hexdigest()[:DIGEST_DIGITS]


def run_event_key(app: str, program: str, status: str) -> str:
    """The key of the events of a program's runs; `status` is started, succeeded, failed or completed."""
    return f"run:{app}/{program}:{status}"


def fire_event_key(schedule: str, leaf: str) -> str:
    """The key of the fires of one cron of one schedule."""
    return f"fire:{schedule}:{leaf}"


def listens_to(app: str, schedule: str, leaf: Leaf, program: str) -> tuple[str, ...]:
    """The event keys that a leaf of a schedule's trigger listens to; the first is of what it collects.

    A leaf with a timer collects its own fires, and listens to what starts the timer.

    Args:
        schedule: "app/name".
        program: the schedule's own, in its app.
    """
    trigger = leaf.trigger
    fires = (fire_event_key(schedule, leaf.path),) if trigger.fires_by_clock else ()
    dataset, runs = trigger.dataset_heard, trigger.runs_heard(program)
    partitions = () if dataset is None else (partition_event_key(app, dataset),)
    return (*fires, *partitions, *(() if runs is None else (run_event_key(app, *runs),)))


class Subscription(Value, kw_only=True):
    """One row of the reverse index: this leaf of this schedule listens to that event key."""

    event_key: str
    schedule: str
    leaf: str


class Delivery(Value, kw_only=True):
    """What became of one event at one leaf of one schedule.

    It belongs to a job, whose state tells whether it is pending, consumed or discarded; or it
    has no job and was discarded at the door for `reason`. Together the deliveries are the
    ledger: every event, for every schedule it matches, stands in one (rule 2).
    """

    event: Event
    schedule: str
    leaf: str
    job: str | None = None
    reason: str | None = None
    at: datetime
