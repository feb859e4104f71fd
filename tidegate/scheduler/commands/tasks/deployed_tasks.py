"""Tasks: what a deployment does to the instances of new and changed tasks (docs/cycles.md, "Generation").

new       the instances of the running day, and of a next day that begins within two hours, whose start
          time is not over
changed   those that are Not Run are made again: the ones whose scheduled time the task still has stay, the
          others go without a discard. Those that run or have finished stay as they are; those that wait do
          so under the new constraints and priority, by which they are judged at once. A scheduled time is
          meant by its name: no name has a second instance after a change of the zone, and none is left out
disabled  like a deleted one: what is Not Run, Waiting or Paused is discarded
"""

from collections.abc import Collection, Sequence
from datetime import date, datetime
from typing import Any

import msgspec

from tidegate.compiler.fingerprint import fingerprint
from tidegate.domain.model import Schedule, TaskTrigger
from tidegate.domain.tasks.grid import Slot, generation_time
from tidegate.domain.tasks.key import local_day
from tidegate.scheduler.decision.fold.after import record
from tidegate.scheduler.decision.instances.changed import after_change
from tidegate.scheduler.decision.instances.gate import looking_again
from tidegate.scheduler.decision.instances.made import instance_of_slot
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.instance import Instance, task_event_key
from tidegate.scheduler.model.job import WAITING, Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.due import MICROSECOND
from tidegate.scheduler.tick.end_jobs import discard_jobs, end_jobs
from tidegate.scheduler.tick.generate import (
    ONE_DAY,
    catch_up,
    day_made,
    make_instances,
    next_generation,
    slots_between,
    unmade,
    when_returned,
)
from tidegate.scheduler.tick.named import ZONES_APART
from tidegate.scheduler.tick.tick import is_away


def begin_tasks(
    transaction: EngineTransaction, states: Sequence[ScheduleState], now: datetime
) -> list[ScheduleState]:
    """Make the first instances of new tasks, and return the tasks with their next generation."""
    made_until = {state.ref: day_made(state.spec.as_task, now) for state in states}
    make_instances(
        transaction,
        [(state, _first_slots(state.spec.as_task, made_until[state.ref], now)) for state in states],
        now,
    )
    return [
        msgspec.structs.replace(
            state,
            active_since=state.active_since or now,
            fires_after=now,
            next_fire_at=next_generation(state.spec.as_task, made_until[state.ref]),
        )
        for state in states
    ]


def _first_slots(task: TaskTrigger, until: date, now: datetime) -> list[Slot]:
    """Return the slots from the running day to another one whose start time is not over."""
    days = slots_between(task, local_day(task, now) - ONE_DAY, until)
    return [slot for slot in days if slot.start >= now]


def change_tasks(
    transaction: EngineTransaction, states: Sequence[ScheduleState], specs: Sequence[Schedule], now: datetime
) -> list[ScheduleState]:
    """Change deployed tasks and their instances, and return the changed tasks."""
    before = now - MICROSECOND
    returned = before if is_away(transaction, now) else when_returned(transaction, before)
    catch_up(transaction, states, before, returned)
    after = [
        msgspec.structs.replace(
            state, spec=spec, fingerprint=fingerprint(spec), deployed_at=now, revision=state.revision + 1
        )
        for state, spec in zip(states, specs, strict=True)
    ]
    for state in after:
        _change(transaction, state, state.spec.as_task, now)
    return [_begin_changed(transaction, was, state, now) for was, state in zip(states, after, strict=True)]


def _begin_changed(
    transaction: EngineTransaction, was: ScheduleState, state: ScheduleState, now: datetime
) -> ScheduleState:
    """Make the instances that a changed task has besides those it had; return it with its next generation."""
    task, former = state.spec.as_task, was.spec.as_task
    until, made = day_made(task, now), _day_made_before(former, task, now)
    last = max(until, made)
    first = min(local_day(task, now), made + ONE_DAY)
    slots = [slot for slot in slots_between(task, first - ONE_DAY, last) if slot.start >= now]
    slots = sorted({*slots, *days_begun(former, task, now)}, key=lambda slot: slot.scheduled)
    if slots:
        near = transaction.instances(
            (state.ref,), slots[0].scheduled - ZONES_APART, slots[-1].scheduled + ZONES_APART
        )
        new = unmade(state, slots, {(job.schedule, job.key) for job in near})
        make_instances(transaction, [(state, new)], now)
    return msgspec.structs.replace(
        state,
        active_since=state.active_since or now,
        # What the former text had made further on is not made a second time.
        fires_after=now if made <= until else generation_time(task, made),
        next_fire_at=next_generation(task, last),
    )


def days_begun(former: TaskTrigger, task: TaskTrigger, now: datetime) -> list[Slot]:
    """Return the slots of the days that have begun in a zone further east, and that were not made yet.

    All of them are made, also those whose start time is over.
    """
    return list(slots_between(task, _day_made_before(former, task, now), day_made(task, now)))


def _day_made_before(former: TaskTrigger, task: TaskTrigger, now: datetime) -> date:
    """Return the last day that is made already: in another zone by the former text."""
    moves = former.enabled and former.timezone != task.timezone
    return day_made(former, now - MICROSECOND) if moves else day_made(task, now)


def wake_consumers(transaction: EngineTransaction, tasks: Collection[str], now: datetime) -> None:
    """Let instances that are Not Run look for upstream instances again, since some have come or gone.

    Args:
        tasks: whose instances have come or gone, "app/name".
    """
    consumers = {
        each.schedule
        for each in transaction.records(SUBSCRIPTIONS, event_key={task_event_key(ref) for ref in tasks})
    }
    if not consumers:
        return
    waiting = transaction.jobs(schedules=consumers, states=(JobState.PENDING_TRIGGER,))
    transaction.put_jobs(looking_again(waiting, now))


def _change(transaction: EngineTransaction, state: ScheduleState, task: TaskTrigger, now: datetime) -> None:
    """Carry out what becomes of the instances of a changed task."""
    jobs = transaction.jobs(
        schedules=(state.ref,), states=(*WAITING, JobState.PENDING_LAUNCH, JobState.PAUSED)
    )
    fates = [(job, after_change(job, task)) for job in jobs]
    discard_jobs(transaction, [job for job, each in fates if each.kind == "discarded"], Reason.D_DELETED, now)
    gone = [(job, _entry(job, EntryKind.GONE, now)) for job, each in fates if each.kind == "gone"]
    transaction.add_journal([entry for _, entry in gone])
    end_jobs(transaction, gone)
    again = [
        (job, _remade(job, state, instance_of_slot(task, each.slot, **_kept(job)), now))
        for job, each in fates
        if each.slot is not None
    ]
    transaction.add_journal([entry for _, entry in again])
    priority = state.spec.priority
    transaction.put_jobs([record(job, entry, next_check_at=now, priority=priority) for job, entry in again])
    waiting = [
        msgspec.structs.replace(job, next_check_at=now, priority=priority)
        for job, each in fates
        if each.kind == "stays" and job.state is JobState.PENDING_CONSTRAINT
    ]
    transaction.put_jobs(waiting)


def _kept(job: Job) -> dict[str, Any]:
    """Return what an instance keeps that is made again."""
    return {"counts_from": job.of_task.counts_from, "attempt": job.of_task.attempt}


def _remade(job: Job, state: ScheduleState, instance: Instance, now: datetime) -> Entry:
    data = {"instance": msgspec.to_builtins(instance), "fingerprint": state.fingerprint}
    return msgspec.structs.replace(_entry(job, EntryKind.REMADE, now), data=data)


def _entry(job: Job, kind: EntryKind, now: datetime) -> Entry:
    return Entry(at=now, kind=kind, schedule=job.schedule, job=job.id)
