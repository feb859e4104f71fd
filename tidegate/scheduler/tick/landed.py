"""Landed: events of a dataset report the instances of its source tasks (docs/cycles.md, "Reports from data").

    the instance is Not Run    ──► the event joins it; its gate opens at once, or at its scheduled time
    it does not exist          ──► it is made, and the event joins it
    it is finished or Paused   ──► it is reported; where it was finished, its consumers run again

What joins an instance is its delivery, as in any job: so the ledger has each event, and an instance of a
dataset with a second dimension knows which keys have come. A finished instance is reported between two
working sets of the same instant (`report_again`): a rerun changes consumers anywhere. Part of the shell.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import msgspec

from tidegate.domain.model import App, PartitionScheme
from tidegate.domain.partition_key import PartitionKeyError, validate_key
from tidegate.domain.tasks.grid import Slot, slots_of_day
from tidegate.domain.tasks.key import local_day, scheduled_key
from tidegate.domain.tasks.reported import all_landed, is_reported_by, period_begins, slots_reported
from tidegate.scheduler.decision.fold.after import joined
from tidegate.scheduler.decision.fold.end_job import reported_entry
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.decision.instances.gate import landed_keys
from tidegate.scheduler.decision.instances.made import instance_of_slot, make
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery, Event, Subscription, event_facts
from tidegate.scheduler.model.instance import InstanceKind, Status
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.end_jobs import end_jobs
from tidegate.scheduler.tick.generate import look_again
from tidegate.scheduler.tick.named import named_instance
from tidegate.scheduler.tick.rerun import rerun
from tidegate.scheduler.tick.working_set import WorkingSet

NEAR = timedelta(days=1)
"""Instances whose scheduled times are this near are read together."""

REPORTED_AGAIN = frozenset({Status.SUCCESSFUL, Status.FAILED, Status.PAUSED})
"""Instances that an event reports at once; one that is Not Run takes the event and is decided."""

Landed = tuple[Event, Subscription]
"""An event, and the source that it reaches."""

Place = tuple[str, str]
"""A task, and the name of a scheduled time."""

Again = tuple[str, str]
"""A finished or paused instance (id of its job) that an event (id) reports."""


def land(
    work: WorkingSet,
    landed: Sequence[Landed],
    states: Mapping[str, ScheduleState],
    apps: Mapping[str, App],
    now: datetime,
) -> list[Again]:
    """Deliver the events of an instant to the instances of sources.

    Returns:
        The instances that are finished or paused, and are to be reported by `report_again`.
    """
    wanted: list[tuple[Landed, PartitionScheme, Slot]] = []
    for event, listener in landed:
        state = states[listener.schedule]
        dataset = apps[state.app].datasets.get(state.spec.as_task.dataset or "")
        scheme = None if dataset is None else dataset.partitions
        if scheme is None or not is_reported_by(state.spec.as_task, scheme):
            continue
        reason = _refusal(event, state, scheme)
        if reason is not None:
            _refuse(work, (event, listener), reason, now)
            continue
        slots = slots_reported(state.spec.as_task, scheme, event.partition or "")
        wanted += [((event, listener), scheme, slot) for slot in slots]
    jobs = _instances(work, states, [(listener.schedule, slot) for (_, listener), _, slot in wanted])
    reached = [
        (scheme, _join(work, each, states[each[1].schedule], slot, jobs, now), each[0])
        for each, scheme, slot in wanted
    ]
    return list(_to_report(work, reached, now))


def report_again(transaction: EngineTransaction, again: Sequence[Again], now: datetime) -> None:
    """Report finished and paused instances as successful; consumers of the finished ones run again."""
    events = dict(again)
    jobs = transaction.jobs(ids=events.keys())
    finished = [job for job in jobs if status_of(job) is not Status.PAUSED]
    by = By(actor="event")
    if finished:
        rerun(transaction, finished, now, by, downstream=True)
    for job in transaction.jobs(ids=events.keys()):
        entry = reported_entry(job, events[job.id], now)
        transaction.add_journal([entry])
        end_jobs(transaction, [(job, entry)])


def _refusal(event: Event, state: ScheduleState, scheme: PartitionScheme) -> Reason | None:
    """Return why an event reports no instance of a source: its key, or when it arrived."""
    if not state.spec.as_task.enabled:
        return Reason.D_DELETED
    if state.active_since is not None and event.arrived < state.active_since:
        return Reason.D_UPDATED
    key = event.partition or ""
    try:
        if validate_key(scheme, key) is not None:
            return Reason.D_KEY
        begins = period_begins(scheme, key)
    except (PartitionKeyError, OverflowError):  # the latter beyond the year 9999
        return Reason.D_KEY
    return Reason.D_KEY if begins is not None and begins > event.arrived else None


def _refuse(work: WorkingSet, landed: Landed, reason: Reason, now: datetime) -> None:
    _deliver(work, landed, now, EntryKind.EVENT_DISCARDED, reason=reason)


def _deliver(
    work: WorkingSet,
    landed: Landed,
    now: datetime,
    kind: EntryKind,
    *,
    job: str | None = None,
    reason: Reason | None = None,
) -> None:
    event, listener = landed
    work.add_deliveries(
        [
            Delivery(
                event=event, schedule=listener.schedule, leaf=listener.leaf, job=job, reason=reason, at=now
            )
        ]
    )
    data = {"leaf": listener.leaf, **event_facts(event)}
    work.add_journal(
        [
            Entry(
                at=now,
                kind=kind,
                schedule=listener.schedule,
                job=job,
                event=event.id,
                reason=reason,
                data=data,
            )
        ]
    )


def _instances(
    work: WorkingSet, states: Mapping[str, ScheduleState], wanted: Iterable[tuple[str, Slot]]
) -> dict[Place, Job]:
    """Return the instances of slots that exist."""
    times: dict[str, dict[datetime, str]] = {}
    for ref, slot in wanted:
        times.setdefault(ref, {})[slot.scheduled] = scheduled_key(states[ref].spec.as_task, slot.scheduled)
    found: dict[Place, Job] = {}
    for ref, keys in times.items():
        for first, last in _ranges(sorted(keys)):
            found.update(((ref, job.key), job) for job in work.instances((ref,), first, last))
        for scheduled, key in keys.items():
            job = None if (ref, key) in found else named_instance(work, ref, scheduled, key)
            if job is not None:
                found[ref, key] = job
    waiting = [place for place, job in found.items() if job.waiting]
    return found | dict(zip(waiting, work.as_known(found[place] for place in waiting), strict=True))


def _ranges(times: Sequence[datetime]) -> Iterator[tuple[datetime, datetime]]:
    """Yield the ranges of times, in order, between which there are gaps."""
    first = times[0]
    for before, time in pairwise(times):
        if time - before > NEAR:
            yield first, before
            first = time
    yield first, times[-1]


def _join(
    work: WorkingSet,
    landed: Landed,
    state: ScheduleState,
    slot: Slot,
    jobs: dict[Place, Job],
    now: datetime,
) -> Job:
    """Deliver an event to an instance, which is made if need be; return the instance."""
    event, _ = landed
    task = state.spec.as_task
    place = (state.ref, scheduled_key(task, slot.scheduled))
    if place not in jobs:
        usual = slot in slots_of_day(task, local_day(task, slot.scheduled))
        kind = InstanceKind.PERIODIC if usual else InstanceKind.OUTSIDE
        jobs[place], entry = make(state, instance_of_slot(task, slot, kind=kind), now)
        work.put_jobs([jobs[place]])
        work.add_journal([entry])
        if slot.scheduled <= now:
            look_again(work, [state.ref], now)
    job = jobs[place]
    if job.waiting:
        # Data that comes before its scheduled time counts at that time.
        check = max(now, slot.scheduled)
        job = msgspec.structs.replace(joined(job, event.arrived), next_check_at=check)
        work.put_jobs([job])
        jobs[place] = job
    _deliver(work, landed, now, EntryKind.EVENT, job=job.id)
    return job


def _to_report(
    work: WorkingSet, reached: Sequence[tuple[PartitionScheme, Job, Event]], now: datetime
) -> Iterator[Again]:
    """Yield the finished and paused instances whose data is complete, each once, with the newest event."""
    found: dict[str, tuple[PartitionScheme, Event]] = {}
    for scheme, job, event in reached:
        if status_of(job) in REPORTED_AGAIN and job.of_task.scheduled <= now:
            found[job.id] = scheme, event
    work.held.read(found.keys())
    for id, (scheme, event) in found.items():
        if all_landed(scheme, landed_keys(work.held.whole(id), event.key)):
            yield id, event.id
