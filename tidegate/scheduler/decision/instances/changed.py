"""Changed: what becomes of an instance when its task changes (docs/cycles.md, "Generation").

    after the last valid day, or the task is disabled   discarded, as with a deleted task
    Not Run, and the task still has its time            made again, under its identity
    Not Run, and the task no longer has its time        gone, without a discard
    any other                                           stays as it is

A time is meant by its name: where the zone has changed, the same wall time at another instant.
This is the only place that decides it: a deployment carries it out, `plan` counts it. Pure.
"""

from typing import Literal

from tidegate.domain.model import TaskTrigger
from tidegate.domain.tasks.grid import Slot, slots_of_day
from tidegate.domain.tasks.key import (
    TaskKeyError,
    local_day,
    parse_date,
    parse_scheduled,
    scheduled_key,
    unit_of,
)
from tidegate.domain.value import Value
from tidegate.scheduler.model.instance import Instance, InstanceKind
from tidegate.scheduler.model.job import Job, JobState

DATE_CHARACTERS = len("2026-03-10")
"""The date that each name of a scheduled time begins with."""


class Changed(Value, kw_only=True):
    """What becomes of one instance; `slot` is the new one of an instance that is made again."""

    kind: Literal["discarded", "again", "gone", "stays"]
    slot: Slot | None = None


STAYS = Changed(kind="stays")


def after_change(job: Job, task: TaskTrigger) -> Changed:
    """Return what becomes of an instance.

    Args:
        task: as it is from now on.
    """
    instance = job.instance
    open_ = job.waiting or job.state in (JobState.PENDING_LAUNCH, JobState.PAUSED)
    if instance is None or not open_ or job.run_id is not None:
        return STAYS
    day = parse_date(instance.key[:DATE_CHARACTERS])
    if not task.enabled or (task.valid_to is not None and day > task.valid_to):
        return Changed(kind="discarded")
    if job.state is not JobState.PENDING_TRIGGER or instance.kind is not InstanceKind.PERIODIC:
        return STAYS
    slot = slot_named(task, instance)
    return Changed(kind="gone") if slot is None else Changed(kind="again", slot=slot)


def slot_named(task: TaskTrigger, instance: Instance) -> Slot | None:
    """Return the slot of an instance by the name of its scheduled time; None if the task has none.

    Days and hours have no name in common: of a task that changes from one to the other, the instant counts.
    """
    key, scheduled = instance.key, instance.scheduled
    if (len(key) == DATE_CHARACTERS) == (unit_of(task) == "day"):
        try:
            scheduled = parse_scheduled(task, key)
        except TaskKeyError:
            return None
        if scheduled_key(task, scheduled) != key:
            return None
    slots = slots_of_day(task, local_day(task, scheduled))
    return next((slot for slot in slots if slot.scheduled == scheduled), None)
