"""The partitions that an instance writes: those of its program's outputs that contain its business date.

A business date is a wall time of the task's zone, and is carried to the partitions as it reads, not as an
instant. While an instance runs it holds a slot of each of them, so that an instance of a backfill and another
one never write the same partition at once (W-PARTITION). Pure.
"""

from collections.abc import Iterator
from datetime import datetime

from tidegate.domain.model import App, Cycle, PartitionScheme, Schedule, TimeDimension
from tidegate.domain.part_name import whole_name
from tidegate.domain.partition_key import expected_keys, format_time_key, join_key
from tidegate.domain.tasks.key import unit_of_cycle
from tidegate.domain.time.cycle import is_finer
from tidegate.domain.time.wall_clock import first_instant, instants
from tidegate.scheduler.model.instance import Instance

WHOLE = ""
"""The one partition of a dataset without partitions."""

HELD, HELD_BY_BACKFILL = "partition:", "backfill:"
"""Prefixes of the resources of a partition: every instance that writes it holds the first one."""


def partitions_of(scheme: PartitionScheme | None, date: str, cycle: Cycle) -> tuple[str, ...]:
    """Return the keys of a dataset that contain a business date; of finer partitions all within it.

    Args:
        cycle: of the task whose business date it is.
    """
    if scheme is None or scheme.time is None:
        return () if scheme is None or scheme.static is None else tuple(scheme.static.keys)
    time = scheme.time
    unit = unit_of_cycle(cycle)
    if is_finer(time.cycle, unit):
        return expected_keys(scheme, unit, date)
    key = format_time_key(_instant(date, time), time)
    if scheme.static is None:
        return (key,)
    return tuple(join_key(scheme, {time.name: key, scheme.static.name: each}) for each in scheme.static.keys)


def _instant(date: str, dimension: TimeDimension) -> datetime:
    """Return the instant of a business date as the wall clock of a dataset's zone reads it."""
    day, clock, offset = date[:10], date[11:16], date[16:]
    wall = datetime.fromisoformat(f"{day} {clock or '00:00'}")
    both = instants(wall, dimension.timezone)
    return both[1] if offset and len(both) == 2 else first_instant(wall, dimension.timezone)


def written(app: App, schedule: Schedule, instance: Instance) -> dict[str, tuple[str, ...]]:
    """Return the partitions that an instance writes, by dataset as the app names it."""
    program = app.programs.get(schedule.program)
    names = () if program is None else program.writes
    date, cycle = instance.business_date, cycle_of(schedule)
    return {name: partitions_of(app.datasets[name].partitions, date, cycle) or (WHOLE,) for name in names}


def keys_of(app: App, schedule: Schedule, instance: Instance) -> tuple[str, ...]:
    """Return the keys of all partitions that an instance writes, sorted."""
    found = written(app, schedule, instance)
    return tuple(sorted({key for keys in found.values() for key in keys if key}))


def cycle_of(schedule: Schedule) -> Cycle:
    """Return the cycle of a task."""
    return "day" if schedule.task is None else schedule.task.cycle


def partition_resources(app: App, schedule: Schedule, instance: Instance) -> tuple[str, ...]:
    """Return the resources of which an instance holds a slot while it runs, besides those of its program."""
    prefixes = (HELD, HELD_BY_BACKFILL) if instance.number else (HELD,)
    return tuple(prefix + part for prefix in prefixes for part in _parts(app, schedule, instance))


def partitions_awaited(app: App, schedule: Schedule, instance: Instance) -> tuple[str, ...]:
    """Return the resources that must be free before an instance may run.

    An instance of a backfill waits for every other one that writes one of its partitions, any other instance
    for those of backfills.
    """
    prefix = HELD if instance.number else HELD_BY_BACKFILL
    return tuple(prefix + part for part in _parts(app, schedule, instance))


def _parts(app: App, schedule: Schedule, instance: Instance) -> Iterator[str]:
    for name, keys in written(app, schedule, instance).items():
        for key in keys:
            yield f"{whole_name(app.name, name)}:{key}"
