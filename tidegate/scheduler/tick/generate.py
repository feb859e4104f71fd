"""Generate: make the instances of the days that begin soon (docs/cycles.md, "Generation").

    two hours before a local day begins ──► its instances, for each task by the index of due tasks

A task is due when its next day is to be made, so that no tick scans tasks. It makes one day at a time, and
the earliest days come first, of whatever task: a tick makes some thousand instances, and leaves the rest to
the next one. Until then the task is *behind*: a gate that looks for its instances of that day stays closed
(`scheduler.tick.upstream`). Days that were missed while the scheduler was down are made at its return, as far
as `catch_up_at_most` allows. A day that is made twice changes nothing. Part of the shell.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Protocol

import msgspec

from tidegate.domain.model import TaskTrigger
from tidegate.domain.tasks.grid import GENERATED_BEFORE, Slot, day_begins, generation_time, slots_of_day
from tidegate.domain.tasks.holes import left_out
from tidegate.domain.tasks.key import local_day, scheduled_key
from tidegate.scheduler.decision.instances.gate import looking_again
from tidegate.scheduler.decision.instances.made import make_all
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import task_event_key
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.engine_rows import InstanceRows
from tidegate.scheduler.tick.working_set import WorkingSet

INSTANCES_PER_TICK = 3_000
"""After so many new instances a tick leaves the other tasks to the next one: a fraction of a second."""

TASK_COSTS = 3
"""Writing when a task is due next takes as long as making so many instances."""

DECISION_COSTS = 10
"""Deciding about an instance whose start time is over takes as long as making so many."""

RETURNED = "returned"
"""Name of the cursor that holds when the scheduler last returned from a downtime, in ISO 8601."""

ONE_DAY = timedelta(days=1)

Wanted = tuple[ScheduleState, Sequence[Slot]]
"""A task, and the slots whose instances it is to have."""


class InstanceTables(InstanceRows, Protocol):
    """Reads instances and makes them: a transaction, or the working set of a tick."""

    def cursor(self, name: str) -> Any: ...

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


def generate(work: WorkingSet, instant: datetime) -> int:
    """Make the instances of the first due tasks, a day of each, as far as the tick may make more.

    Returns:
        The number of the tasks that have made a day.
    """
    made: list[tuple[Wanted, date]] = []
    due = work.take_tasks(instant)
    returned = when_returned(work, instant) if due else instant
    for state in due:
        if work.instances_left <= 0:
            break
        day, slots = _due_day(state, state.spec.as_task, instant, returned)
        work.add_journal(_left_out(state, instant, returned))
        made.append(((state, slots), day))
        over = sum(slot.start <= instant for slot in slots)
        work.instances_left -= TASK_COSTS + len(slots) + over * DECISION_COSTS
    make_instances(work, [wanted for wanted, _ in made], instant)
    for (state, _), day in made:
        _made_until(work, state, day, instant)
    look_again(work, [state.ref for (state, _), day in made if _begun(state, day, instant)], instant)
    return len(made)


def catch_up(
    tables: InstanceTables, states: Sequence[ScheduleState], instant: datetime, returned: datetime
) -> None:
    """Make at once all days that tasks have missed, since the tasks are about to change.

    Args:
        returned: see `when_returned`.
    """
    behind = [state for state in states if is_behind(state, instant)]
    tables.add_journal([entry for state in behind for entry in _left_out(state, instant, returned)])
    make_instances(
        tables, [(state, _missed(state, state.spec.as_task, instant, returned)) for state in behind], instant
    )


def is_behind(state: ScheduleState, instant: datetime) -> bool:
    """Return whether a task has days to make that are due."""
    return state.next_fire_at is not None and state.next_fire_at <= instant


def when_returned(tables: InstanceTables, instant: datetime) -> datetime:
    """Return when the scheduler last returned from a downtime: `catch_up_at_most` counts back from there."""
    stored = tables.cursor(RETURNED)
    return instant if stored is None else min(instant, datetime.fromisoformat(stored))


def _missed(state: ScheduleState, task: TaskTrigger, instant: datetime, returned: datetime) -> list[Slot]:
    """Return the slots of all days that a task is to make."""
    oldest = returned - task.catch_up_at_most
    days = slots_between(task, _last_made(state, task, instant, oldest), day_made(task, instant))
    return [slot for slot in days if slot.scheduled >= oldest]


def _due_day(
    state: ScheduleState, task: TaskTrigger, instant: datetime, returned: datetime
) -> tuple[date, list[Slot]]:
    """Return the first day that a task is to make and that has slots, and these."""
    oldest, until = returned - task.catch_up_at_most, day_made(task, instant)
    day = _last_made(state, task, instant, oldest)
    slots: list[Slot] = []
    while day < until and not slots:
        day += ONE_DAY
        slots = [slot for slot in slots_of_day(task, day) if slot.scheduled >= oldest]
    return day, slots


def _left_out(state: ScheduleState, instant: datetime, returned: datetime) -> list[Entry]:
    """Return the one entry of what a task leaves out after an absence, when it makes its first day."""
    task = state.spec.as_task
    hole = left_out(task, day_made(task, state.fires_after or instant), returned - task.catch_up_at_most)
    if hole is None:
        return []
    data = {"first": hole.first, "last": hole.last, "number": hole.missing}
    reason = Reason.D_EXPIRED
    return [Entry(at=instant, kind=EntryKind.LEFT_OUT, schedule=state.ref, reason=reason, data=data)]


def _last_made(state: ScheduleState, task: TaskTrigger, instant: datetime, oldest: datetime) -> date:
    """Return the last day that a task has made, or that it does not catch up with any more."""
    return max(day_made(task, state.fires_after or instant), local_day(task, oldest) - ONE_DAY)


def _made_until(work: WorkingSet, state: ScheduleState, day: date, instant: datetime) -> None:
    """Note the last day that a task has made; it is due again at once while it is behind."""
    task = state.spec.as_task
    since = instant if day >= day_made(task, instant) else generation_time(task, day)
    following = next_generation(task, max(day, day_made(task, since)))
    work.put_schedule(msgspec.structs.replace(state, fires_after=since, next_fire_at=following))


def _begun(state: ScheduleState, day: date, instant: datetime) -> bool:
    """Return whether a day that was just made has begun: some instances may have missed its instances."""
    return day_begins(state.spec.as_task, day) <= instant


def make_instances(tables: InstanceTables, wanted: Sequence[Wanted], now: datetime) -> None:
    """Make the periodic instances of the slots of tasks that do not exist yet."""
    jobs: list[Job] = []
    entries: list[Entry] = []
    for each in _by_days(wanted):
        times = [slot.scheduled for _, slots in each for slot in (slots[0], slots[-1])]
        found = tables.instances([state.ref for state, _ in each], min(times), max(times))
        exist = {(job.schedule, job.key) for job in found}
        for state, slots in each:
            new = unmade(state, slots, exist) if exist else slots
            if new:
                made, entry = make_all(state, new, now)
                jobs += made
                entries.append(entry)
    tables.put_jobs(jobs)
    tables.add_journal(entries)


def unmade(state: ScheduleState, slots: Sequence[Slot], exist: Collection[tuple[str, str]]) -> Sequence[Slot]:
    """Return the slots of a task that have no instance of their name.

    Args:
        exist: instances, by task and name.
    """
    task = state.spec.as_task
    return [slot for slot in slots if (state.ref, scheduled_key(task, slot.scheduled)) not in exist]


def _by_days(wanted: Sequence[Wanted]) -> Collection[list[Wanted]]:
    """Return the tasks that make the same days together; slots are in the order of their times."""
    found: dict[tuple[date, date], list[Wanted]] = {}
    for state, slots in wanted:
        if slots:
            days = (slots[0].scheduled.date(), slots[-1].scheduled.date())
            found.setdefault(days, []).append((state, slots))
    return found.values()


def look_again(work: WorkingSet, tasks: Collection[str], now: datetime) -> None:
    """Let instances that have had no upstream instance of these tasks look again."""
    listeners = work.listeners({task_event_key(task) for task in tasks})
    refs = {each.schedule for found in listeners.values() for each in found}
    if refs:
        work.put_jobs(looking_again(work.waiting_jobs(refs), now))
