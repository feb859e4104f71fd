"""Made: the instance of a slot of a task's grid, as the job that it is.

The identity is (task, scheduled time, kind, number). An instance that was discarded leaves its identity free,
so the instant at which an instance is made is part of the id of its job. Pure.
"""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidegate.domain.model import TaskTrigger
from tidegate.domain.time.task_grid import Slot, natural_container
from tidegate.domain.time.task_key import business_date, scheduled_key
from tidegate.scheduler.decision.after import opened
from tidegate.scheduler.decision.instances.select import size_of
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Instance, InstanceKind
from tidegate.scheduler.model.job import Job, job_id
from tidegate.scheduler.model.journal import Entry, EntryKind


def instance_of_slot(task: TaskTrigger, slot: Slot, **changes: Any) -> Instance:
    """Return the instance of a slot.

    Args:
        changes: fields of the instance that differ from those of a periodic one.
    """
    return Instance(
        key=scheduled_key(task, slot.scheduled),
        scheduled=slot.scheduled,
        start=slot.start,
        business=business_instant(task, slot.scheduled),
        business_date=business_date(task, slot.scheduled),
        empty=slot.empty,
        **changes,
    )


def business_instant(task: TaskTrigger, scheduled: datetime) -> datetime:
    """Return the instant at which the business date of a scheduled time begins."""
    size = size_of(task.cycle)
    if size == "minute":
        return scheduled - timedelta(minutes=1)
    return natural_container(task.timezone, scheduled, size, previous=True).start


def make(state: ScheduleState, instance: Instance, now: datetime) -> tuple[Job, Entry]:
    """Return the job of a new instance, and the entry that makes it."""
    kind = instance.kind if instance.kind is not InstanceKind.BACKFILL else f"backfill {instance.number}"
    entry = Entry(
        at=now,
        kind=EntryKind.INSTANCE,
        schedule=state.ref,
        job=job_id(state.ref, instance.key, f"{kind}@{now.isoformat()}"),
        data={"key": instance.key, "instance": msgspec.to_builtins(instance)},
    )
    # Decided at once: an upstream instance may be there already, or its time be over.
    return msgspec.structs.replace(opened(entry, state), next_check_at=max(now, instance.start)), entry
