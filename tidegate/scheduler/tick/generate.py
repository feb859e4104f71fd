"""Generate: make the instances of the days that begin soon (docs/cycles.md, "Generation").

    two hours before a local day begins ──► its instances, for each task by the index of due schedules

A task is due when its next day is to be made, so that no tick scans tasks. Days that were missed while the
scheduler was down are made at its return, as far as `catch_up_at_most` allows. A day that is made twice
changes nothing. Part of the shell.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Protocol

import msgspec

from tidegate.domain.model import TaskTrigger
from tidegate.domain.time.task_grid import GENERATED_BEFORE, Slot, day_begins, generation_time, slots_of_day
from tidegate.domain.time.task_key import local_day
from tidegate.scheduler.decision.instances.gate import looking_again
from tidegate.scheduler.decision.instances.made import instance_of_slot, make
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import task_event_key
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.store.instances import InstanceRows
from tidegate.scheduler.tick.working_set import WorkingSet

INSTANCES_PER_TICK = 2_500
"""After so many new instances a tick leaves the other tasks to the next one."""

ONE_DAY = timedelta(days=1)

Wanted = tuple[ScheduleState, Sequence[Slot]]
"""A task, and the slots whose instances it is to have."""


class InstanceTables(InstanceRows, Protocol):
    """Reads instances and makes them: a transaction, or the working set of a tick."""

    def put_jobs(self, jobs: Sequence[Job]) -> None: ...

    def add_journal(self, entries: Sequence[Entry]) -> None: ...


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
    wanted: list[Wanted] = []
    count = 0
    for state in due:
        if count >= INSTANCES_PER_TICK:
            break
        slots = _due_slots(state, state.spec.as_task, instant)
        wanted.append((state, slots))
        count += len(slots)
    make_instances(work, wanted, instant)
    for state, slots in wanted:
        task = state.spec.as_task
        if slots and day_begins(task, local_day(task, slots[0].scheduled)) <= instant:
            _wake_consumers(work, state.ref, instant)
        following = next_generation(task, day_made(task, instant))
        work.put_schedule(msgspec.structs.replace(state, fires_after=instant, next_fire_at=following))
    return len(wanted)


def _due_slots(state: ScheduleState, task: TaskTrigger, instant: datetime) -> list[Slot]:
    """Return the slots of the days that a task is to make, as far as it may catch up."""
    last, until = day_made(task, state.fires_after or instant), day_made(task, instant)
    oldest = instant - task.catch_up_at_most
    first = max(last, day_made(task, oldest) - ONE_DAY)
    return [slot for slot in slots_between(task, first, until) if slot.scheduled >= oldest]


def make_instances(rows: InstanceTables, wanted: Sequence[Wanted], now: datetime) -> None:
    """Make the periodic instances of the slots of tasks that do not exist yet."""
    times = [slot.scheduled for _, slots in wanted for slot in slots]
    if not times:
        return
    found = rows.instances([state.ref for state, _ in wanted], min(times), max(times))
    exist = {(job.schedule, job.of_task.scheduled) for job in found}
    new = [
        make(state, instance_of_slot(state.spec.as_task, slot), now)
        for state, slots in wanted
        for slot in slots
        if (state.ref, slot.scheduled) not in exist
    ]
    rows.put_jobs([job for job, _ in new])
    rows.add_journal([entry for _, entry in new])


def _wake_consumers(work: WorkingSet, task: str, now: datetime) -> None:
    key = task_event_key(task)
    refs = {each.schedule for each in work.listeners({key})[key]}
    work.put_jobs(looking_again(work.waiting_jobs(refs), now))
