"""Made: the instance of a slot of a task's grid, as the job that it is.

The identity is (task, name of the scheduled time, kind, number). An instance that was discarded leaves its
identity free, so the instant at which an instance is made is part of the id of its job. Pure.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from tidegate.domain.model import TaskTimes, TaskTrigger
from tidegate.domain.tasks.days import is_moved
from tidegate.domain.tasks.grid import Slot, business_instant
from tidegate.domain.tasks.key import business_date, scheduled_key
from tidegate.scheduler.decision.fold.after import instance_job, opened
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Instance, InstanceKind
from tidegate.scheduler.model.job import Job, job_id
from tidegate.scheduler.model.journal import Entry, EntryKind

SLOTS_KEPT = 16_384
"""Size of the cache of instances by slot, some kilobyte each: a day of minutes in ten zones. Tasks of one
cycle and zone that count their business dates alike have the same instances."""

WRITTEN = ("key", "scheduled", "start", "business", "business_date")
"""What an entry of many instances says of each; all else is as in any new instance."""


def instance_of_slot(task: TaskTrigger, slot: Slot, **changes: Any) -> Instance:
    """Return the instance of a slot.

    Args:
        changes: fields of the instance that differ from those of a periodic one.
    """
    instance, _ = _of_slot(_dating(task), slot)
    return msgspec.structs.replace(instance, **changes) if changes else instance


@lru_cache(SLOTS_KEPT)
def _of_slot(task: TaskTrigger, slot: Slot) -> tuple[Instance, dict[str, Any]]:
    """Return the periodic instance of a slot, and its fields without defaults, as a journal has them."""
    instance = Instance(
        key=scheduled_key(task, slot.scheduled),
        scheduled=slot.scheduled,
        start=slot.start,
        business=business_instant(task, slot.scheduled),
        business_date=business_date(task, slot.scheduled),
        empty=slot.empty,
    )
    fields: dict[str, Any] = msgspec.to_builtins(instance)
    written = {name: fields[name] for name in WRITTEN}
    return instance, {**written, "empty": True} if slot.empty else written


def _dating(task: TaskTrigger) -> TaskTrigger:
    """Return a task that has only what decides about the keys of its instances."""
    if task.cycle in ("minute", "hour") or not is_moved(task):
        return TaskTrigger(cycle=task.cycle, timezone=task.timezone)
    return TaskTrigger(
        cycle=task.cycle,
        timezone=task.timezone,
        times=TaskTimes(time=task.times.time),
        calendar=task.calendar,
        previous_business_day=task.previous_business_day,
        day_starts=task.day_starts,
    )


def make(state: ScheduleState, instance: Instance, now: datetime, again: int = 0) -> tuple[Job, Entry]:
    """Return the job of a new instance, and the entry that makes it.

    Args:
        again: how often its backfill was resumed.
    """
    kind = instance.kind if instance.kind is not InstanceKind.BACKFILL else f"backfill {instance.number}"
    kind = f"{kind} again {again}" if again else kind
    entry = Entry(
        at=now,
        kind=EntryKind.INSTANCE,
        schedule=state.ref,
        job=_job_id(state, instance, f"{kind}@{now.isoformat()}"),
        data={"key": instance.key, "instance": msgspec.to_builtins(instance)},
    )
    return msgspec.structs.replace(opened(entry, state), next_check_at=_first_check(instance, now)), entry


def make_all(state: ScheduleState, slots: Sequence[Slot], now: datetime) -> tuple[list[Job], Entry]:
    """Return the jobs of new periodic instances of a task, and the one entry that makes them all."""
    task = state.spec.as_task
    dating = _dating(task)
    found = [_of_slot(dating, slot) for slot in slots]
    by = f"{InstanceKind.PERIODIC}@{now.isoformat()}"
    ids = [_job_id(state, instance, by) for instance, _ in found]
    jobs = [
        instance_job(state, id, instance, now, next_check_at=_first_check(instance, now))
        for id, (instance, _) in zip(ids, found, strict=True)
    ]
    data = {"jobs": ids, "instances": [written for _, written in found]}
    return jobs, Entry(at=now, kind=EntryKind.INSTANCE, schedule=state.ref, data=data)


def _job_id(state: ScheduleState, instance: Instance, made_by: str) -> str:
    """Return the id of the job of a new instance.

    By its scheduled time as an instant and by name: when a task changes its zone or cycle, two instances may
    have either in common.
    """
    return job_id(state.ref, f"{instance.key}@{instance.scheduled.isoformat()}", made_by)


def _first_check(instance: Instance, now: datetime) -> datetime:
    """Return when an instance is first decided: at once if its start time is over."""
    return max(now, instance.start)
