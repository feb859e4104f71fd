"""The keys of a schedule, and which partitions of any dataset are about one of them. Pure.

    for_each: partition     the keys of the partitions that its trigger collects
    for_each: day, ...      the periods of that cycle, from the one of their first partition on
    a cron                  its business dates: keys of the time of its outputs, or days
    any other schedule      none: nothing says for what it is to run again

A partition is about a key if it lies in the key's period, or the period in it; where both have the same list,
by the key of the list too.
"""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from tidegate.domain.business_date import is_by_the_clock
from tidegate.domain.model import App, PartitionScheme, Schedule, TimeDimension, leaves
from tidegate.domain.partition_key import (
    format_time_key,
    join_key,
    keys_within,
    parse_time_key,
    split_key,
    start_of,
    validate_key,
)
from tidegate.domain.time.cycle import Period, is_finer
from tidegate.domain.time.wall_clock import first_instant, wall_time

FIRST_DAY = "1970-01-01"
"""No business date is earlier where outputs have no periods of their own."""


def output_scheme(app: App, program: str) -> PartitionScheme | None:
    """Return the partition scheme of a program's runs; lint checks that its outputs agree."""
    return next(iter(app.programs[program].schemes(app.datasets)), None)


def dates_written(app: App, schedule: Schedule) -> PartitionScheme:
    """Return the partitions whose keys are the business dates of a schedule: of its outputs, or days."""
    outputs = output_scheme(app, schedule.program)
    if outputs is not None and outputs.time is not None:
        return PartitionScheme(time=outputs.time)
    days = TimeDimension(name="day", cycle="day", start=FIRST_DAY, timezone=schedule.timezone)
    return PartitionScheme(time=days)


def has_cron(schedule: Schedule) -> bool:
    """Return whether a schedule fires at wall-clock times."""
    return any(leaf.trigger.wall_clock is not None for leaf in leaves(schedule.trigger))


def schemes_of_keys(app: App, schedule: Schedule) -> tuple[PartitionScheme, ...]:
    """Return the partitions whose keys are those of a schedule; none for a schedule without keys."""
    if schedule.for_each is not None:
        return tuple(dict.fromkeys(_collected(app, schedule)))
    outputs = output_scheme(app, schedule.program)
    by_time = outputs is None or outputs.static is None
    return (dates_written(app, schedule),) if has_cron(schedule) and by_time else ()


def scheme_of_key(app: App, schedule: Schedule, key: str) -> PartitionScheme | None:
    """Return the partitions to which a key of a schedule belongs; None for a key that it does not have."""
    found = schemes_of_keys(app, schedule)
    return next((scheme for scheme in found if validate_key(scheme, key) is None), None)


def period_of_key(scheme: PartitionScheme, key: str) -> Period | None:
    """Return the period of a key; None for the key of a list."""
    return None if scheme.time is None else parse_time_key(date_of_key(scheme, key), scheme.time)


def date_of_key(scheme: PartitionScheme, key: str) -> str:
    """Return the date of a key, which is its whole time; that of a list is itself."""
    return key if scheme.time is None else split_key(scheme, key)[scheme.time.name]


def keys_of_date(scheme: PartitionScheme, date: str) -> tuple[str, ...]:
    """Return all keys of a date: of two dimensions one for each key of the list."""
    if scheme.time is None or scheme.static is None:
        return (date,)
    return tuple(
        join_key(scheme, {scheme.time.name: date, scheme.static.name: each}) for each in scheme.static.keys
    )


def keys_about(scheme: PartitionScheme, key: str, of: PartitionScheme) -> tuple[str, ...]:
    """Return the partitions that are about a key.

    Args:
        scheme: of the partitions.
        of: the partitions to which the key belongs.
    """
    period = period_of_key(of, key)
    lists = () if scheme.static is None else scheme.static.keys
    if of.static is not None and (mine := split_key(of, key)[of.static.name]) in lists:
        lists = (mine,)
    if scheme.time is None or period is None:
        return lists if scheme.time is None else ()
    times = _times_about(scheme.time, period, of)
    if scheme.static is None:
        return times
    names = scheme.time.name, scheme.static.name
    return tuple(
        join_key(scheme, dict(zip(names, (time, one), strict=True))) for time in times for one in lists
    )


def _collected(app: App, schedule: Schedule) -> Iterator[PartitionScheme]:
    """Yield the partitions of the datasets that a trigger collects, in the cycle of `for_each`."""
    for leaf in leaves(schedule.trigger):
        dataset = app.datasets.get(leaf.trigger.dataset_collected or "")
        scheme = None if dataset is None else dataset.partitions
        if scheme is None:
            continue
        if schedule.for_each == "partition" or schedule.for_each is None:
            yield scheme
        elif scheme.time is not None:
            outer = msgspec.structs.replace(scheme.time, cycle=schedule.for_each)
            first = format_time_key(start_of(scheme.time), outer)
            yield PartitionScheme(time=msgspec.structs.replace(outer, start=first))


def _times_about(time: TimeDimension, period: Period, of: PartitionScheme) -> tuple[str, ...]:
    """Return the time keys that lie in a period, or the one in which it lies.

    Days and longer are those of the date as it reads, hours and minutes those of the instants.
    """
    assert of.time is not None, "a key with a period has a time"
    if is_finer(time.cycle, of.time.cycle):
        start, end = (_as_it_reads(each, of.time, time) for each in (period.start, period.end))
        return keys_within(PartitionScheme(time=time), start, end)
    start = period.start
    if not is_by_the_clock(PartitionScheme(time=time)):
        start = _as_it_reads(start, of.time, time)
    found = format_time_key(start, time)
    return (found,) if validate_key(PartitionScheme(time=time), found) is None else ()


def _as_it_reads(instant: datetime, of: TimeDimension, to: TimeDimension) -> datetime:
    """Return the instant at which another dimension has the date and time that an instant has in one."""
    if of.timezone == to.timezone or is_by_the_clock(PartitionScheme(time=of)):
        return instant
    return first_instant(wall_time(instant, of.timezone), to.timezone)
