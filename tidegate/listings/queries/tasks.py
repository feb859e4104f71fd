"""The deployed cycle tasks."""

from datetime import datetime

from tidegate.compiler.plan.forms import task_form
from tidegate.domain.duration import duration_text
from tidegate.domain.tasks.grid import real_slots_after
from tidegate.domain.tasks.key import scheduled_key
from tidegate.listings.read import Asked
from tidegate.listings.tasks import CycleTask, NextInstance, UpstreamTask
from tidegate.scheduler.model.deployed import TASK_KIND, ScheduleState


def list_tasks(asked: Asked) -> list[CycleTask]:
    """Return the tasks that match."""
    states = asked.reader.schedules(app=asked.wanted.get("app"), kind=TASK_KIND)
    return [_public(state, asked.source.now) for state in states if asked.sees(state.app)]


def _public(state: ScheduleState, now: datetime) -> CycleTask:
    task = state.spec.as_task
    slot = next(real_slots_after(task, now), None)
    return CycleTask(
        task=state.ref,
        type=task.type,
        update=task.update,
        program=state.spec.program or None,
        dataset=task.dataset,
        cycle=task.cycle,
        at=task_form(state.spec).get("at", {}),
        timezone=task.timezone,
        upstream=tuple(
            UpstreamTask(
                task="self" if each.itself else each.task,
                select=each.select,
                period=each.period if each.within is None else duration_text(each.within),
                detected=each.detected,
            )
            for each in task.depends_on
        ),
        status=state.status,
        enabled=task.enabled,
        next=None
        if slot is None
        else NextInstance(scheduled=scheduled_key(task, slot.scheduled), start=slot.start),
    )
