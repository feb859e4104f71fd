"""The codec of each table, with the few columns that are derived and not fields of a value.

A derived column serves an index of the rows that are still to be processed: see `tables`.
"""

from collections.abc import Collection
from datetime import datetime

from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState
from tidegate.scheduler.model.event import Delivery, Event, EventKind, Subscription
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.launch_order import launch_rank, offer_rank
from tidegate.scheduler.model.queue import queue_of
from tidegate.scheduler.model.run import Gauge, Launched, Run
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Codec, Held, Row, as_held, instant, microseconds
from tidegate.scheduler.store.wanted import open_for


def joined_kinds(kinds: Collection[str]) -> str | None:
    """Return kinds of constraints in one text, by which the schedules with these are found; None for none."""
    return " ".join(sorted(kinds)) or None


def _due_at(job: Job) -> datetime | None:
    return job.next_check_at if job.decided_when_due else None


def _instance(job: Job) -> Instance | None:
    """Return what makes a job an instance that others may find."""
    return None if job.state is JobState.DISCARDED else job.instance


class EventCodec(Codec[Event]):
    """The codec of events. A job may have collected a hundred thousand of them, which its launch reads.

    Most say nothing beyond a partition, its size, the run and a detail: to name few fields takes a third of
    the time of naming all.
    """

    def value(self, row: Row) -> Event:
        """The value of a row of `read`; further columns are ignored."""
        held = tuple(row)
        if held[_OTHERS] != _DEFAULTS:
            return super().value(row)
        id, kind, key, time, arrived, partition, size, rows, run = held[: _OTHERS.start]
        return Event(
            id=id,
            kind=_KINDS[kind],
            key=key,
            time=instant(time),
            arrived=instant(arrived),
            partition=partition,
            bytes=size,
            rows=rows,
            run_id=run,
            detail=held[_OTHERS.stop],
        )


_KINDS = {kind.value: kind for kind in EventKind}
_FIELDS = Event.__struct_fields__
_OTHERS = slice(_FIELDS.index("run_id") + 1, _FIELDS.index("detail"))
_DEFAULTS = Event.__struct_defaults__[_OTHERS.start - len(_FIELDS) : _OTHERS.stop - len(_FIELDS)]
"""What the columns of the other fields hold by default: no field among them converts its default."""

APPS = Codec(
    tables.apps, DeployedApp, renamed={"app": "spec"}, derived={"name": lambda deployed: deployed.name}
)
SCHEDULES = Codec(
    tables.schedules,
    ScheduleState,
    derived={
        "app": lambda state: state.app,
        "program": lambda state: state.spec.program,
        "trigger_kind": lambda state: state.spec.trigger.kind,
        "constraint_kinds": lambda state: joined_kinds({each.kind for each in state.spec.constraints}),
        "due_at": lambda state: state.next_fire_at if state.fires and state.spec.task is None else None,
        "deadline_of": lambda state: None if state.spec.deadline is None else state.ref,
        "generate_at": lambda state: None if state.spec.task is None else state.next_fire_at,
    },
)
SUBSCRIPTIONS = Codec(tables.subscriptions, Subscription)
EVENTS = EventCodec(tables.events, Event, derived={"unrouted_since": lambda event: event.arrived})
JOBS = Codec(
    tables.jobs,
    Job,
    derived={
        "app": lambda job: job.app,
        "due_at": _due_at,
        "backfill": lambda job: None if (each := _instance(job)) is None else each.number,
        "scheduled_at": lambda job: None if (each := _instance(job)) is None else each.scheduled,
        "real_at": lambda job: None if (each := _instance(job)) is None or each.empty else each.scheduled,
        "queue": lambda job: queue_of(job) if offer_rank(job) is None else tables.OUTBOX,
        "launch_rank": lambda job: offer_rank(job) or (None if queue_of(job) is None else launch_rank(job)),
        "open_for": open_for,
        "late_of": lambda job: None if job.late_at is None or job.state in FINISHED else job.schedule,
    },
)
LAUNCHES = Codec(tables.launches, Launched)
GAUGES = Codec(tables.gauges, Gauge)
RUNS = Codec(tables.runs, Run)

DELIVERY_KEY = ("job", "event", "schedule", "leaf")
DELIVERY_NAMES = (*DELIVERY_KEY, "reason", "at")
DELIVERY_WRITTEN = (*DELIVERY_NAMES, "arrived")
DELIVERY_READ = [as_held(tables.deliveries.c[name]).label(f"delivery_{name}") for name in DELIVERY_NAMES]
"""The columns of a delivery; a query selects `EVENTS.read` before them."""


def delivery_key(delivery: Delivery) -> Held:
    """Return the key of a delivery, in the order of `DELIVERY_KEY`."""
    job = tables.NO_JOB if delivery.job is None else delivery.job
    return job, delivery.event.id, delivery.schedule, delivery.leaf


def delivery_row(delivery: Delivery, arrived: datetime) -> Held:
    """Return the row of a delivery, in the order of `DELIVERY_WRITTEN`.

    Args:
        arrived: of its event in the store.
    """
    reason = None if delivery.reason is None else str(delivery.reason)
    return *delivery_key(delivery), reason, microseconds(delivery.at), microseconds(arrived)


def delivery_of(row: Row) -> Delivery:
    """Return the delivery of a row of `EVENTS.read` and `DELIVERY_READ`."""
    row = tuple(row)
    job, _, schedule, leaf, reason, at = row[-len(DELIVERY_NAMES) :]
    return Delivery(
        event=EVENTS.value(row),
        schedule=schedule,
        leaf=leaf,
        job=None if job == tables.NO_JOB else job,
        reason=reason,
        at=instant(at),
    )
