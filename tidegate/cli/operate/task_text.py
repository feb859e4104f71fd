"""Tasks as text: their times, their upstream tasks, and the instance that comes next."""

from datetime import datetime, timedelta

from tidegate.compiler.plan.task_form import task_form
from tidegate.domain.model import Dependency, Schedule, TaskTrigger
from tidegate.domain.time.task_grid import Slot, slots_of_day
from tidegate.domain.time.task_key import local_day
from tidegate.scheduler.model.deployed import ScheduleState

LOOK_AHEAD_DAYS = 370
"""A task of a year has a real instance at least once in so many days."""


def times_text(schedule: Schedule) -> str:
    """Return the `at` of a task on one line: "every 2h, minute 10, from 08:00"."""
    return ", ".join(f"{key} {_shown(value)}" for key, value in task_form(schedule).get("at", {}).items())


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def upstream_text(dependency: Dependency) -> str:
    """Return one upstream task, with what the YAML says of it."""
    notes = [
        dependency.select or "",
        "period before" if dependency.period == "previous" else "",
        "detected" if dependency.detected else "",
    ]
    name = "self" if dependency.itself else dependency.task
    said = ", ".join(note.replace("_", " ") for note in notes if note)
    return f"{name} ({said})" if said else name


def next_start(state: ScheduleState, now: datetime) -> datetime | None:
    """Return the next fire of a schedule, or the start of the next instance of a task."""
    if state.spec.task is None:
        return state.next_fire_at
    slot = next_slot(state.spec.task, now)
    return None if slot is None else slot.start


def next_slot(task: TaskTrigger, now: datetime) -> Slot | None:
    """Return the next slot with a real run that starts after an instant; None without one in a year."""
    today = local_day(task, now)
    for number in range(-1, LOOK_AHEAD_DAYS):
        for slot in slots_of_day(task, today + timedelta(days=number)):
            if slot.start > now and not slot.empty:
                return slot
    return None
