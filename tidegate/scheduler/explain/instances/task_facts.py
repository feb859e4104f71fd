"""A task as builtin values, with the instance that comes next."""

from datetime import datetime, timedelta
from typing import Any

from tidegate.compiler.plan.task_form import task_form
from tidegate.domain.duration import duration_text
from tidegate.domain.model import TaskTrigger
from tidegate.domain.tasks.grid import Slot, slots_of_day
from tidegate.domain.tasks.key import local_day, scheduled_key
from tidegate.scheduler.model.deployed import ScheduleState

LOOK_AHEAD_DAYS = 370
"""A task of a year has a real instance at least once in so many days."""


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


def task_facts(state: ScheduleState, task: TaskTrigger, now: datetime) -> dict[str, Any]:
    """Return a deployed task as builtin values, with its next instance."""
    slot = next_slot(task, now)
    following = (
        None if slot is None else {"scheduled": scheduled_key(task, slot.scheduled), "start": slot.start}
    )
    upstream = [
        {
            "task": "self" if each.itself else each.task,
            "select": each.select,
            "period": each.period if each.within is None else duration_text(each.within),
            "detected": each.detected,
        }
        for each in task.depends_on
    ]
    return {
        "task": state.ref,
        "type": task.type,
        "update": task.update,
        "program": state.spec.program or None,
        "dataset": task.dataset,
        "cycle": task.cycle,
        "at": task_form(state.spec).get("at", {}),
        "timezone": task.timezone,
        "upstream": upstream,
        "status": state.status,
        "enabled": task.enabled,
        "next": following,
    }
