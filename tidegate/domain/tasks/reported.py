"""Reported: which instances of a source the data of a dataset reports (docs/cycles.md, "Reports from data").

    the hour 09:00             ──► the instance of 10:00, whose business date it is
    9 March                    ──► the instance of 10 March
    a week, a month, a year    ──► the instances, without empty runs, whose business date lies in it

The cycles of task and dataset are equal; a source of another cycle is reported by people alone. Pure.
"""

from collections.abc import Collection, Iterator
from datetime import date, datetime, timedelta

from tidegate.domain.model import PartitionScheme, TaskTrigger, TimeDimension
from tidegate.domain.partition_key import parse_time_key, split_key, validate_key
from tidegate.domain.tasks.grid import Slot, slot_at, slots_of_day
from tidegate.domain.tasks.key import TaskKeyError, business_date, last_day_of, scheduled_of, unit_of
from tidegate.domain.time.natural_time import period_around
from tidegate.domain.time.wall_clock import wall_time

_DAY = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)


def is_reported_by(task: TaskTrigger, scheme: PartitionScheme | None) -> bool:
    """Return whether events of a dataset with these partitions report the instances of a task."""
    return (
        task.dataset_collected is not None
        and scheme is not None
        and scheme.time is not None
        and scheme.time.cycle == task.cycle
    )


def period_begins(scheme: PartitionScheme, key: str) -> datetime | None:
    """Return when the period of a key begins; None without periods.

    Raises:
        PartitionKeyError: the scheme has no such key.
    """
    time = scheme.time
    return None if time is None else parse_time_key(split_key(scheme, key)[time.name], time).start


def slots_reported(task: TaskTrigger, scheme: PartitionScheme, key: str) -> tuple[Slot, ...]:
    """Return the slots of the instances that a key reports, in order.

    Raises:
        PartitionKeyError: the scheme has no such key.
    """
    time = scheme.time
    if time is None or not is_reported_by(task, scheme):
        return ()
    key = split_key(scheme, key)[time.name]
    if task.cycle in ("minute", "hour"):
        return tuple(_within(task, key, time))
    if task.cycle == "day":
        try:
            return (slot_at(task, scheduled_of(task, key)),)
        except TaskKeyError:
            # Clocks skip the day after it.
            return ()
    return tuple(_real(task, key, time))


def all_landed(scheme: PartitionScheme, keys: Collection[str]) -> bool:
    """Return whether the keys of one period have every key of the second dimension.

    Keys that the dataset does not have any more, since its partitions were changed, do not count.
    """
    keys = [key for key in keys if validate_key(scheme, key) is None]
    if scheme.static is None:
        return bool(keys)
    landed = {split_key(scheme, key)[scheme.static.name] for key in keys}
    return landed.issuperset(scheme.static.keys)


def _within(task: TaskTrigger, key: str, time: TimeDimension) -> Iterator[Slot]:
    """Yield the instances whose business hour or minute begins in the period of a key."""
    period, unit, zone = parse_time_key(key, time), unit_of(task), task.timezone
    business = period_around(period.start, unit, zone)
    if business.start < period.start:
        business = period_around(business.end, unit, zone)
    while business.start < period.end:
        yield slot_at(task, business.end)
        business = period_around(business.end, unit, zone)


def _real(task: TaskTrigger, key: str, time: TimeDimension) -> Iterator[Slot]:
    """Yield the instances, without empty runs, whose business date lies in a week, month or year."""
    last = wall_time(parse_time_key(key, time).end - _MICROSECOND, time.timezone).date()
    first = date.fromisoformat(key)
    for number in range((last_day_of(task, last) - first).days + 1):
        for slot in slots_of_day(task, first + number * _DAY):
            about = business_date(task, slot.scheduled)
            if not slot.empty and first.isoformat() <= about <= last.isoformat():
                yield slot
