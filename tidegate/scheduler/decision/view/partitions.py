"""The partitions that an instance writes: those of its program's outputs about its business date or key.

A business date is a wall time of the task's zone. Its date is carried to partitions of a day and longer as it
reads, and its first instant to those of hours and minutes, whatever zone the outputs have. While an instance
runs it holds a slot of each of them, so that an instance of a backfill and another one never write the same
partition at once (W-PARTITION). In the same way each job of a schedule holds its keys. Pure.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from tidegate.domain.business_date import is_by_the_clock
from tidegate.domain.model import App, Dataset, PartitionScheme, Schedule, TaskTrigger, TimeDimension
from tidegate.domain.part_name import whole_name
from tidegate.domain.partition_key import format_time_key, join_key, keys_within
from tidegate.domain.schedule_keys import keys_about, scheme_of_key
from tidegate.domain.tasks.key import unit_of
from tidegate.domain.time.cycle import is_finer
from tidegate.domain.time.natural_time import period_around
from tidegate.domain.time.wall_clock import first_instant
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.run import keys_held, keys_of_backfill

WHOLE = ""
"""The one partition of a dataset without partitions."""

HELD, HELD_BY_BACKFILL = "partition:", "backfill:"
"""Prefixes of the resources of a partition: every instance that writes it holds the first one."""


def partitions_of(scheme: PartitionScheme | None, task: TaskTrigger, instance: Instance) -> tuple[str, ...]:
    """Return the keys of a dataset that contain a business date; of finer partitions all within it.

    Days and longer partitions are those of the date as it reads. Hours and minutes are those of the instant
    at which the business date begins, on the clocks of the dataset.
    """
    if scheme is None:
        return (WHOLE,)
    if scheme.time is None:
        return () if scheme.static is None else tuple(scheme.static.keys)
    time, unit = scheme.time, unit_of(task)
    if is_finer(time.cycle, unit):
        return keys_within(
            scheme, instance.business, period_around(instance.business, unit, task.timezone).end
        )
    begin = instance.business if is_by_the_clock(scheme) else _first_instant(instance.business_date, time)
    key = format_time_key(begin, time)
    if scheme.static is None:
        return (key,)
    return tuple(join_key(scheme, {time.name: key, scheme.static.name: each}) for each in scheme.static.keys)


def _first_instant(date: str, dimension: TimeDimension) -> datetime:
    """Return the first instant of the date of a business date on the clocks of a dataset."""
    return first_instant(datetime.fromisoformat(date[:10]), dimension.timezone)


def written(app: App, schedule: Schedule, instance: Instance) -> dict[str, tuple[str, ...]]:
    """Return the partitions that an instance writes, by dataset as the app names it."""
    program = app.programs.get(schedule.program)
    outputs = () if program is None else program.outputs(app.datasets)
    if instance.keyed:
        return _written_by_key(app, schedule, instance, outputs)
    task = schedule.as_task
    return {each.name: partitions_of(each.partitions, task, instance) for each in outputs}


def _written_by_key(
    app: App, schedule: Schedule, instance: Instance, outputs: Iterable[Dataset]
) -> dict[str, tuple[str, ...]]:
    """Return the partitions about the key of an instance; outputs without partitions have other keys too."""
    own = scheme_of_key(app, schedule, instance.key)
    return {
        each.name: keys_about(each.partitions, instance.key, own)
        for each in outputs
        if own is not None and each.partitions is not None
    }


def keys_of(app: App, schedule: Schedule, instance: Instance) -> tuple[str, ...]:
    """Return the keys of all partitions that an instance writes, sorted."""
    found = written(app, schedule, instance)
    return tuple(sorted({key for keys in found.values() for key in keys if key}))


def partition_resources(app: App, schedule: Schedule, instance: Instance) -> tuple[str, ...]:
    """Return the resources of which an instance holds a slot while it runs, besides those of its program."""
    prefixes = (HELD, HELD_BY_BACKFILL) if instance.number else (HELD,)
    held = tuple(prefix + part for prefix in prefixes for part in _parts(app, schedule, instance))
    if not instance.keyed:
        return held
    ref = whole_name(app.name, schedule.name)
    return (*held, *keys_held(ref, [instance.key]), *keys_of_backfill(ref, ["", instance.key]))


def partitions_awaited(app: App, schedule: Schedule, instance: Instance) -> tuple[str, ...]:
    """Return the resources that must be free before an instance may run.

    An instance of a backfill waits for every other one that writes one of its partitions, any other instance
    for those of backfills.
    """
    prefix = HELD if instance.number else HELD_BY_BACKFILL
    awaited = tuple(prefix + part for part in _parts(app, schedule, instance))
    if not instance.keyed:
        return awaited
    return (*keys_held(whole_name(app.name, schedule.name), [instance.key]), *awaited)


def _parts(app: App, schedule: Schedule, instance: Instance) -> Iterator[str]:
    for name, keys in written(app, schedule, instance).items():
        for key in keys:
            yield f"{whole_name(app.name, name)}:{key}"
