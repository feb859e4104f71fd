"""The grid of a task: the instances that its configuration asks for, day by day.

An instance has a scheduled time, which is the configured time truncated in the task's zone, and a start
time, which is the configured time itself. Configured times of hours and minutes are counted on the wall
clock: those in a gap are left out, doubled ones come twice, and of two that truncate to one scheduled time
the second is the instance. Tasks of a day and longer cycles have one instance on each day, which is an
empty run on off days. Nothing here knows which instances exist: the engine makes them.
"""

from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import chain
from typing import Literal, assert_never

from tidegate.domain.model import TaskTimes, TaskTrigger
from tidegate.domain.tasks.days import date_of_day, day_of_date, has_instances, is_moved, is_real
from tidegate.domain.tasks.key import business_date, local_day, parse_date, unit_of
from tidegate.domain.time.calendar import is_business_day
from tidegate.domain.time.cycle import Period
from tidegate.domain.time.natural_time import begin_before, begin_of, period_around, steady_offset
from tidegate.domain.time.wall_clock import first_instant, gap_end, instants, wall_time
from tidegate.domain.value import Value

GENERATED_BEFORE = timedelta(hours=2)
"""How long before a local day begins its instances are made."""

GRIDS_KEPT = 256
"""Size of the cache of days of hours and minutes: a day of minutes has some 140 kB."""

TIMES_KEPT = 512
"""Size of the cache of configured times: a day has at most 1,440, which is some tens of MB in all."""

OVER_MIDNIGHT = timedelta(hours=3)
"""How far from midnight a configured time may truncate to an hour of another day, near a clock change."""

LOOK_AHEAD_DAYS = 370
"""A task of a year has a run at least once in so many days."""

HOUR_MINUTES = 60
DAY_MINUTES = 24 * HOUR_MINUTES

_DAY = timedelta(days=1)


class Slot(Value, kw_only=True):
    """One instance that the configuration of a task asks for.

    Attributes:
        scheduled: aware UTC; the configured time truncated in the task's zone, the instance's identity.
        start: aware UTC; the configured time itself, before which the instance does not run.
        empty: an empty run, on an off day of a task of a day or longer.
    """

    scheduled: datetime
    start: datetime
    empty: bool = False


# --- days -------------------------------------------------------------------------------


def day_begins(task: TaskTrigger, day: date) -> datetime:
    """Return the first instant of a local day, in UTC; of a day that clocks skip, that of the next one."""
    offset = steady_offset(task.timezone, day)
    if offset is None:
        return first_instant(datetime(day.year, day.month, day.day), task.timezone)
    return datetime(day.year, day.month, day.day, tzinfo=UTC) - offset


def generation_time(task: TaskTrigger, day: date) -> datetime:
    """Return the instant from which the instances of a local day exist, in UTC."""
    return day_begins(task, day) - GENERATED_BEFORE


def natural_container(
    zone: str, instant: datetime, unit: Literal["hour", "day"], *, previous: bool = False
) -> Period:
    """Return the natural hour or the local day that contains an instant; if `previous`, the one before it.

    Each pass of a doubled hour is a natural hour of its own.
    """
    if not previous:
        return period_around(instant, unit, zone)
    end = begin_of(instant, unit, zone)
    return Period(start=begin_before(end, unit, zone), end=end)


# --- slots ------------------------------------------------------------------------------


def slots_of_day(task: TaskTrigger, day: date) -> tuple[Slot, ...]:
    """Return the instances whose scheduled time is on a local day, in the order of their scheduled times."""
    if not has_instances(task, day):
        return ()
    if unit_of(task) == "day":
        begin = day_begins(task, day)
        if steady_offset(task.timezone, day) is None and local_day(task, begin) != day:
            # Clocks skip the whole day.
            return ()
        return (Slot(scheduled=begin, start=_start_on(task, day), empty=not is_real(task, day)),)
    if task.calendar is not None and not is_business_day(task.calendar, day):
        return ()
    return _grid(task.timezone, task.cycle == "hour", task.times, day)


def real_slots_after(task: TaskTrigger, instant: datetime) -> Iterator[Slot]:
    """Yield the instances with a run that start after an instant, in their order; none after a year."""
    today = local_day(task, instant)
    for number in range(-1, LOOK_AHEAD_DAYS):
        for slot in slots_of_day(task, today + timedelta(days=number)):
            if slot.start > instant and not slot.empty:
                yield slot


def count_of_day(task: TaskTrigger, day: date) -> int:
    """Return how many instances a local day has, without empty runs; cheaper than the slots themselves."""
    if unit_of(task) == "day" or steady_offset(task.timezone, day) is None:
        return sum(not slot.empty for slot in slots_of_day(task, day))
    closed = task.calendar is not None and not is_business_day(task.calendar, day)
    return 0 if closed or not has_instances(task, day) else len(_times(task.cycle == "hour", task.times))


def slot_at(task: TaskTrigger, instant: datetime) -> Slot:
    """Return the instance whose scheduled time is an instant, truncated.

    Off the grid this is not an empty run. Its start time is the scheduled time, with the minute of a
    task of hours; that of a task of days and longer is the configured time of that day.
    """
    unit = unit_of(task)
    scheduled = begin_of(instant, unit, task.timezone)
    day = local_day(task, scheduled)
    slots = slots_of_day(task, day)
    index = bisect_left(slots, scheduled, key=_scheduled)
    if index < len(slots) and slots[index].scheduled == scheduled:
        return slots[index]
    match unit:
        case "day":
            return Slot(scheduled=scheduled, start=_start_on(task, day))
        case "hour":
            return Slot(scheduled=scheduled, start=scheduled + timedelta(minutes=task.times.minute))
        case "minute":
            return Slot(scheduled=scheduled, start=scheduled)
        case _:
            assert_never(unit)


def business_instant(task: TaskTrigger, scheduled: datetime) -> datetime:
    """Return the instant at which the business date of a scheduled time begins."""
    if unit_of(task) == "day" and is_moved(task):
        return day_begins(task, date_of_day(task, local_day(task, scheduled)))
    return begin_before(scheduled, unit_of(task), task.timezone)


def business_slots(task: TaskTrigger, first: str, last: str) -> tuple[tuple[str, Slot], ...]:
    """Return the instances whose business dates are in a range of days, each with its business date's key.

    The instances of one business day of a task of hours are those of its business hours: 00:00 to 23:00. With
    `previous_business_day` each business day has one, and other days have none.

    Args:
        first, last: keys of dates, both included.

    Raises:
        TaskKeyError: one of them is not a date.
    """
    begin, end = parse_date(first), parse_date(last)
    if unit_of(task) == "day":
        # A local day that clocks skip is a business date, and has no instance of its own.
        dates = (begin + n * _DAY for n in range((end - begin).days + 1))
        days = ((each, day) for each in dates if (day := day_of_date(task, each)) is not None)
        return tuple((each.isoformat(), slot) for each, day in days for slot in slots_of_day(task, day))
    # The unit before lies on the same day or on the day before, and where clocks are put back over midnight
    # it may lie on the day after.
    days = (begin + n * _DAY for n in range(-1, (end - begin).days + 2))
    slots = sorted(chain.from_iterable(slots_of_day(task, day) for day in days), key=_scheduled)
    keyed = ((business_date(task, slot.scheduled), slot) for slot in slots)
    return tuple((key, slot) for key, slot in keyed if begin.isoformat() <= key[:10] <= end.isoformat())


def _scheduled(slot: Slot) -> datetime:
    return slot.scheduled


# --- tasks of a day and longer ----------------------------------------------------------


def _start_on(task: TaskTrigger, day: date) -> datetime:
    """Return the configured time of a day: the first instant after a gap, the second of a doubled time."""
    offset, time = steady_offset(task.timezone, day), timedelta(minutes=task.times.time)
    if offset is not None:
        return datetime(day.year, day.month, day.day, tzinfo=UTC) - offset + time
    wall = datetime(day.year, day.month, day.day) + time
    found = instants(wall, task.timezone)
    return found[-1] if found else gap_end(wall, task.timezone)


# --- tasks of hours and minutes ---------------------------------------------------------


@lru_cache(maxsize=GRIDS_KEPT)
def _grid(zone: str, hourly: bool, times: TaskTimes, day: date) -> tuple[Slot, ...]:
    offset = steady_offset(zone, day)
    if offset is None:
        return _hours_near_change(zone, times, day) if hourly else _minutes_near_change(zone, times, day)
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC) - offset
    starts = (begin + time for time in _times(hourly, times))
    if not hourly:
        return tuple(Slot(scheduled=start, start=start) for start in starts)
    minute = timedelta(minutes=times.minute)
    return tuple(Slot(scheduled=start - minute, start=start) for start in starts)


def _minutes_near_change(zone: str, times: TaskTimes, day: date) -> tuple[Slot, ...]:
    """Return the slots of a day on which a configured minute may have none, one or two instants."""
    midnight = datetime(day.year, day.month, day.day)
    found = (start for time in _times(False, times) for start in instants(midnight + time, zone))
    return tuple(Slot(scheduled=start, start=start) for start in sorted(found))


def _hours_near_change(zone: str, times: TaskTimes, day: date) -> tuple[Slot, ...]:
    """Return the slots of a day on which an hour may have none, one or two configured times."""
    midnight = datetime(day.year, day.month, day.day)
    walls = (midnight + n * _DAY + time for n in (-1, 0, 1) for time in _times(True, times))
    found: dict[datetime, datetime] = {}
    for wall in walls:
        if not midnight - OVER_MIDNIGHT <= wall < midnight + _DAY + OVER_MIDNIGHT:
            continue
        for start in instants(wall, zone):
            scheduled = begin_of(start, "hour", zone)
            if wall_time(scheduled, zone).date() == day:
                found[scheduled] = max(start, found.get(scheduled, start))
    return tuple(Slot(scheduled=scheduled, start=found[scheduled]) for scheduled in sorted(found))


@lru_cache(maxsize=TIMES_KEPT)
def _times(hourly: bool, times: TaskTimes) -> tuple[timedelta, ...]:
    """Return the configured times of any day, as times from 00:00, ascending."""
    first = 0 if times.from_ is None else times.from_
    last = DAY_MINUTES - 1 if times.to is None else times.to
    if hourly:
        # Bounds are compared without the minute.
        hours = range(first // HOUR_MINUTES, last // HOUR_MINUTES + 1, times.every)
        return tuple(timedelta(hours=hour, minutes=times.minute) for hour in hours)
    of_hour = range(0, HOUR_MINUTES, times.every)
    minutes = (begin + minute for begin in range(0, DAY_MINUTES, HOUR_MINUTES) for minute in of_hour)
    return tuple(timedelta(minutes=minute) for minute in minutes if first <= minute <= last)
