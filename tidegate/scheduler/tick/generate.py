"""Generate: make the instances of the days that begin soon (docs/cycles.md, "Generation").

    two hours before a local day begins ──► its instances, for each task by the index of due schedules

A task is due when its next day is to be made, so that no tick scans tasks. Days that were missed while the
scheduler was down are made at its return, as far as `catch_up_at_most` allows. A day that is made twice
changes nothing. Part of the shell.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta

import msgspec

from tidegate.domain.model import TaskTrigger
from tidegate.domain.time.task_grid import GENERATED_BEFORE, Slot, day_begins, generation_time, slots_of_day
from tidegate.domain.time.task_key import local_day
from tidegate.scheduler.decision.instances.made import instance_of_slot, make
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import task_event_key
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.tick.working_set import WorkingSet

INSTANCES_PER_TICK = 2_500
"""After so many new instances a tick leaves the other tasks to the next one."""

ONE_DAY = timedelta(days=1)


def day_made(task: TaskTrigger, instant: datetime) -> date:
    """Return the last local day whose instances exist at an instant."""
    return local_day(task, instant + GENERATED_BEFORE)


def next_generation(task: TaskTrigger, made: date) -> datetime | None:
    """Return when the day after `made` is to be generated, or the first valid one; None if none comes."""
    if not task.enabled:
        return None
    day = made + ONE_DAY if task.valid_from is None else max(made + ONE_DAY, task.valid_from)
    return None if task.valid_to is not None and day > task.valid_to else generation_time(task, day)


def slots_between(task: TaskTrigger, after: date, until: date) -> Iterator[Slot]:
    """Yield the slots of the days after `after`, up to and including `until`."""
    for number in range((until - after).days):
        yield from slots_of_day(task, after + (number + 1) * ONE_DAY)


def generate(work: WorkingSet, due: Sequence[ScheduleState], instant: datetime) -> int:
    """Make the instances of due tasks; return the number of the tasks that were done."""
    wanted: list[tuple[ScheduleState, TaskTrigger, list[Slot]]] = []
    count = 0
    for state in due:
        if count >= INSTANCES_PER_TICK:
            break
        slots = _due_slots(state, state.spec.as_task, instant)
        wanted.append((state, state.spec.as_task, slots))
        count += len(slots)
    _make(work, wanted, instant)
    for state, task, slots in wanted:
        if slots and day_begins(task, local_day(task, slots[0].scheduled)) <= instant:
            wake_consumers(work, state.ref, instant)
        following = next_generation(task, day_made(task, instant))
        work.put_schedule(msgspec.structs.replace(state, fires_after=instant, next_fire_at=following))
    return len(wanted)


def _due_slots(state: ScheduleState, task: TaskTrigger, instant: datetime) -> list[Slot]:
    """Return the slots of the days that a task is to make, as far as it may catch up."""
    last, until = day_made(task, state.fires_after or instant), day_made(task, instant)
    oldest = instant - task.catch_up_at_most
    first = max(last, day_made(task, oldest) - ONE_DAY)
    return [slot for slot in slots_between(task, first, until) if slot.scheduled >= oldest]


def _make(
    work: WorkingSet, wanted: Sequence[tuple[ScheduleState, TaskTrigger, list[Slot]]], now: datetime
) -> None:
    """Make the periodic instances of slots that do not exist yet."""
    times = [slot.scheduled for _, _, slots in wanted for slot in slots]
    if not times:
        return
    found = work.instances([state.ref for state, _, _ in wanted], min(times), max(times))
    exist = {(job.schedule, job.instance.scheduled) for job in found if job.instance is not None}
    new = [
        make(state, instance_of_slot(task, slot), now)
        for state, task, slots in wanted
        for slot in slots
        if (state.ref, slot.scheduled) not in exist
    ]
    work.put_jobs([job for job, _ in new])
    work.add_journal([entry for _, entry in new])


def wake_consumers(work: WorkingSet, task: str, now: datetime) -> None:
    """Let instances that are Not Run after their start time look for upstream instances again."""
    key = task_event_key(task)
    refs = {each.schedule for each in work.listeners({key})[key]}
    work.put_jobs(
        msgspec.structs.replace(job, next_check_at=now)
        for job in work.waiting_jobs(refs)
        if job.state is JobState.PENDING_TRIGGER and job.instance is not None and job.instance.start <= now
    )
