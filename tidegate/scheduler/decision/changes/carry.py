"""Carry: the events that a waiting job keeps when `on_update: carry` changes its schedule (rules 11 and 24).

    an event of the job ── a leaf of the new trigger listens to it ──► kept at that leaf
                       ├─ no leaf does ─────────────────────────────► discarded with D-UPDATED
                       └─ the dataset no longer has its key ────────► discarded with D-KEY

The kept events count as if they had arrived under the new trigger, which is evaluated at once. A job that a
person has triggered or queued again keeps its satisfied trigger. Pure:
`scheduler.commands.deployment.replace` writes the result, and `scheduler.commands.deployment.live` counts it
for `plan`.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import msgspec

from tidegate.domain.model import App, Leaf, leaves
from tidegate.domain.partition_key import PartitionKeyError
from tidegate.domain.value import Value
from tidegate.scheduler.decision.route import is_full, key_of
from tidegate.scheduler.decision.triggers import evaluate
from tidegate.scheduler.decision.triggers.collected import collected
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery, Event, EventKind, event_facts, listens_to
from tidegate.scheduler.model.job import Job, JobState, move
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason


class Carried(Value, kw_only=True):
    """The result for one job.

    Attributes:
        job: the job under the new schedule; None if it keeps no event and is discarded.
        kept: all its deliveries from now on.
        removed: deliveries to remove from the job.
        added: deliveries to add; each is an event of the job at another leaf.
        dropped: deliveries to leaves that do not listen to the event any more, with the reason.
        moved_from: the former leaf of an added delivery, by event and leaf.
    """

    job: Job | None
    kept: tuple[Delivery, ...] = ()
    removed: tuple[Delivery, ...] = ()
    added: tuple[Delivery, ...] = ()
    dropped: tuple[Delivery, ...] = ()
    moved_from: dict[tuple[str, str], str] = {}


def carry(job: Job, deliveries: Sequence[Delivery], state: ScheduleState, app: App, now: datetime) -> Carried:
    """Carry a waiting job over to a changed schedule.

    Args:
        deliveries: the collected events of the job.
        state: the changed schedule.
        app: the changed app, for the partition schemes.
    """
    if job.failed_run is not None:
        return _between_attempts(job, deliveries, state, now)
    if job.instance is not None:
        return Carried(job=_due_again(job, state, now))
    by_event: dict[str, list[Delivery]] = {}
    for delivery in deliveries:
        by_event.setdefault(delivery.event.id, []).append(delivery)
    kept: list[Delivery] = []
    removed: list[Delivery] = []
    added: list[Delivery] = []
    dropped: list[Delivery] = []
    moved_from: dict[tuple[str, str], str] = {}
    for each in by_event.values():
        event = each[0].event
        listening = [leaf.path for leaf in leaves(state.spec.trigger) if _collects(state, leaf, event)]
        wanted = [path for path in listening if _has_key(state, path, event, app)]
        staying = [delivery for delivery in each if delivery.leaf in wanted]
        going = [delivery for delivery in each if delivery.leaf not in wanted]
        missing = [path for path in wanted if path not in {delivery.leaf for delivery in staying}]
        new = [Delivery(event=event, schedule=job.schedule, leaf=p, job=job.id, at=now) for p in missing]
        moved_from |= {(event.id, to.leaf): old.leaf for old, to in zip(going, new, strict=False)}
        kept += [*staying, *new]
        added += new
        removed += going
        reason = Reason.D_KEY if listening and not wanted else Reason.D_UPDATED
        dropped += [
            msgspec.structs.replace(delivery, reason=reason, at=now) for delivery in going[len(new) :]
        ]
    if deliveries and not kept and job.by_hand is None:
        return Carried(job=None)
    kept.sort(key=lambda delivery: (delivery.event.arrived, delivery.event.id, delivery.leaf))
    return Carried(
        job=_renewed(job, tuple(kept), state, app, now),
        kept=tuple(kept),
        removed=tuple(removed),
        added=tuple(added),
        dropped=tuple(dropped),
        moved_from=moved_from,
    )


def _between_attempts(
    job: Job, deliveries: Sequence[Delivery], state: ScheduleState, now: datetime
) -> Carried:
    """Carry a job whose run failed: its launch plan is fixed, so it keeps all events if the program stays."""
    if job.launch is None or job.launch.program != state.spec.program:
        return Carried(job=None)
    return Carried(job=_due_again(job, state, now), kept=tuple(deliveries))


def _due_again(job: Job, state: ScheduleState, now: datetime) -> Job:
    """Return a job that keeps what it is about, to be judged by the changed schedule."""
    return msgspec.structs.replace(
        job, fingerprint=state.fingerprint, priority=state.spec.priority, next_check_at=now, blocked_on=None
    )


def _collects(state: ScheduleState, leaf: Leaf, event: Event) -> bool:
    """Return whether an event counts at this leaf: not if it starts a timer or is a fire of another kind."""
    if event.key != listens_to(state.app, state.ref, leaf, state.spec.program)[0]:
        return False
    of_timer = event.kind is EventKind.FIRE and event.scheduled_for is None
    return of_timer == (leaf.trigger.timer is not None)


def _has_key(state: ScheduleState, path: str, event: Event, app: App) -> bool:
    """Return whether the dataset of a leaf still has the partition of an event."""
    try:
        key_of(event, path, state.spec, app)
    except PartitionKeyError:
        return False
    return True


def _renewed(job: Job, kept: tuple[Delivery, ...], state: ScheduleState, app: App, now: datetime) -> Job:
    """Return the job under the changed schedule, due at once."""
    job = msgspec.structs.replace(
        job,
        fingerprint=state.fingerprint,
        priority=state.spec.priority,
        first_event_at=min((delivery.event.arrived for delivery in kept), default=None),
        next_check_at=now,
        blocked_on=None,
    )
    if job.by_hand is not None:
        return job
    job = move(job, JobState.PENDING_TRIGGER, reason=None, satisfied_at=None, closed=False)
    view = JobView(app=app, schedule=state.spec, job=job, deliveries=kept)
    if not evaluate(state.spec.trigger, collected(view), now).met:
        # The timeout starts again with the trigger, unless it counts from the first event.
        from_first = state.spec.timeout.from_ == "first_event"
        return job if from_first else msgspec.structs.replace(job, held_for=timedelta(0))
    own = any(delivery.event.own_job for delivery in kept)
    return msgspec.structs.replace(job, closed=own or is_full(state.spec, view.events))


def carry_entries(job: str, carried: Carried, now: datetime) -> Iterator[Entry]:
    """Return the entries for the moved and dropped events of a carried job (its id)."""
    for delivery in carried.added:
        before = carried.moved_from.get((delivery.event.id, delivery.leaf))
        data = {"leaf": delivery.leaf, "moved_from": before, **event_facts(delivery.event)}
        yield Entry(
            at=now,
            kind=EntryKind.EVENT,
            schedule=delivery.schedule,
            job=job,
            event=delivery.event.id,
            data=data,
        )
    for delivery in carried.dropped:
        yield left_entry(job, delivery, now)


def left_entry(job: str, delivery: Delivery, now: datetime) -> Entry:
    """Return the entry for an event that leaves a job (its id) with a reason."""
    return Entry(
        at=now,
        kind=EntryKind.EVENT_DISCARDED,
        schedule=delivery.schedule,
        job=job,
        event=delivery.event.id,
        reason=delivery.reason,
        data={"leaf": delivery.leaf, **event_facts(delivery.event)},
    )
