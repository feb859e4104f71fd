"""Snapshots: the unfinished jobs at the end of an instant."""

from datetime import datetime

from tidegate.domain.model import Timeout, leaves
from tidegate.domain.value import Value
from tidegate.scheduler.decision.timeout import looked_and_discarded_at
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import ACTIVE, WAITING, Job
from tidegate.scheduler.simulation.simulation import Simulation


class WaitingJob(Value, kw_only=True):
    """One waiting job in a snapshot; of an operation `schedule` is the table, `key` the operation.

    Attributes:
        next_check: when the engine decides again: when time may change it, or when it is discarded.
        looked_at, discarded_at: the two apart, for people.
    """

    schedule: str
    key: str
    reason: str | None
    next_check: datetime | None
    collected: int
    looked_at: datetime | None = None
    discarded_at: datetime | None = None


class Snapshot(Value, kw_only=True):
    """The unfinished jobs at the end of an instant; `active` names the schedule of each launched one."""

    waiting: tuple[WaitingJob, ...] = ()
    active: tuple[str, ...] = ()


def snapshot(simulation: Simulation) -> Snapshot:
    """Return the unfinished jobs of a simulation's store."""
    with simulation.store.reading() as reader:
        waiting = reader.jobs(states=WAITING)
        active = reader.jobs(states=ACTIVE)
        deliveries = reader.deliveries([job.id for job in waiting])
        specs = {state.ref: state.spec for state in reader.schedules()}
    repeats = {
        (ref, leaf.path)
        for ref, spec in specs.items()
        for leaf in leaves(spec.trigger)
        if leaf.trigger.counts_each_write
    }
    timeouts = {ref: spec.timeout for ref, spec in specs.items()}
    return Snapshot(
        waiting=tuple(
            _waiting(simulation, job, timeouts.get(job.schedule), collected(job, deliveries[job.id], repeats))
            for job in waiting
        ),
        active=tuple(sorted(simulation.subject_of(job)[0] for job in active)),
    )


def _waiting(simulation: Simulation, job: Job, timeout: Timeout | None, collected: int) -> WaitingJob:
    name, key = simulation.subject_of(job)
    looked_at, discarded_at = looked_and_discarded_at(timeout, job)
    return WaitingJob(
        schedule=name,
        key=key,
        reason=None if job.reason is None else str(job.reason),
        next_check=job.next_check_at,
        collected=collected,
        looked_at=looked_at,
        discarded_at=discarded_at,
    )


def collected(job: Job, deliveries: tuple[Delivery, ...], repeats: set[tuple[str, str]]) -> int:
    """Count the collected events of a job: a partition once, each update of a dataset without partitions.

    Args:
        repeats: schedule and leaf of the triggers that count every write.
    """
    found: set[tuple[str, str]] = set()
    for delivery in deliveries:
        event = delivery.event
        each_write = not event.partition or (job.schedule, delivery.leaf) in repeats
        found.add((event.key, event.id if each_write else event.partition or ""))
    return len(found)
