"""The keys of a task's instances: scheduled times and business dates as text.

Both are wall times of the task's zone and are written as partition keys are: "2026-03-10" for tasks of a
day and longer, "2026-03-10-10:00" for tasks of hours and minutes, and with its offset for the second pass
of a doubled time, "2026-11-01-01:00-0500". A scheduled time is an instant everywhere else. A business date
is one unit earlier: the date before on the calendar, the natural hour or the minute before.
"""

import re
from datetime import date, datetime, timedelta

from tidegate.domain.model import Cycle, TaskTrigger, TimeDimension
from tidegate.domain.nearest_key import wall_meant
from tidegate.domain.partition_key import PartitionKeyError, format_time_key, parse_time_key
from tidegate.domain.tasks.days import date_of_day, day_of_date, last_day_about
from tidegate.domain.time.clock_change import FIRST_YEAR, LAST_YEAR
from tidegate.domain.time.natural_time import Unit, begin_before, begin_of, period_around, steady_offset
from tidegate.domain.time.wall_clock import first_instant, gap_end, instants, wall_time
from tidegate.domain.wording import shown, with_article

EXAMPLES: dict[Unit, str] = {
    "minute": "2026-03-10-10:17",
    "hour": "2026-03-10-10:00",
    "day": "2026-03-10",
}
"""A key of each unit, for messages."""

_KEY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:-(\d\d):(\d\d)(?:[+-]\d{4})?)?", re.ASCII)


class TaskKeyError(ValueError):
    """A malformed or impossible time. The message says why, and what to write instead."""


def unit_of_cycle(cycle: Cycle) -> Unit:
    """Return the unit to which the times of a cycle are truncated: a day for all longer cycles, too."""
    return cycle if cycle in ("minute", "hour") else "day"


def unit_of(task: TaskTrigger) -> Unit:
    """Return the unit to which the times of a task are truncated."""
    return unit_of_cycle(task.cycle)


def local_day(task: TaskTrigger, instant: datetime) -> date:
    """Return the date of an instant in the task's zone."""
    return wall_time(instant, task.timezone).date()


# --- scheduled times --------------------------------------------------------------------


def scheduled_key(task: TaskTrigger, scheduled: datetime) -> str:
    """Return the key of a scheduled time."""
    unit, zone = unit_of(task), task.timezone
    if unit == "day":
        return local_day(task, scheduled).isoformat()
    if steady_offset(zone, scheduled.date()) is None:
        return format_time_key(begin_of(scheduled, unit, zone), _minutes_of(zone))
    wall = wall_time(scheduled, zone).isoformat()
    return f"{wall[:10]}-{wall[11:16] if unit == 'minute' else wall[11:13] + ':00'}"


def parse_scheduled(task: TaskTrigger, key: str) -> datetime:
    """Return the scheduled time of a key, in UTC.

    A key of a finer time is truncated: for a task of hours, "2026-03-10-10:17" is 10:00.

    Raises:
        TaskKeyError: the key is malformed, or that time does not exist in the task's zone.
    """
    unit = unit_of(task)
    if unit == "day":
        return _midnight(task, _date_of(task, key))
    return begin_of(_minute_of(task, key), unit, task.timezone)


# --- business dates ---------------------------------------------------------------------


def business_date(task: TaskTrigger, scheduled: datetime) -> str:
    """Return the key of a business date: the scheduled time minus one unit of its class.

    A day is one of the calendar (`domain.tasks.days`). An hour or a minute is elapsed time, and an hour
    earlier is the natural hour before: where clocks move by half an hour it may have lasted 30 or 90 minutes.
    """
    unit = unit_of(task)
    if unit == "day":
        return date_of_day(task, local_day(task, scheduled)).isoformat()
    return scheduled_key(task, begin_before(scheduled, unit, task.timezone))


def scheduled_of(task: TaskTrigger, business_date_key: str) -> datetime:
    """Return the scheduled time of a business date, in UTC; the inverse of `business_date`.

    Raises:
        TaskKeyError: the key is malformed, that time does not exist in the task's zone, or it is not a
            business day.
    """
    unit = unit_of(task)
    if unit == "day":
        day = day_of_date(task, _date_of(task, business_date_key))
        if day is None:
            raise TaskKeyError(f"{shown(business_date_key)} is not a business day of the task")
        return _midnight(task, day)
    return period_around(_minute_of(task, business_date_key), unit, task.timezone).end


def last_day_of(task: TaskTrigger, business: date) -> date:
    """Return the last local day with instances whose business dates lie on a day, or before it."""
    return last_day_about(task, business) if unit_of(task) == "day" else business + timedelta(days=1)


def parse_date(key: str) -> date:
    """Return the date of a key without a time.

    Raises:
        TaskKeyError: the key is malformed, or the calendar has no such date.
    """
    if ":" in key or _KEY.fullmatch(key) is None:
        raise TaskKeyError(f'{shown(key)} is not a date; write it as "{_nearest(key, "day")}"')
    return _wall_of(key, "day").date()


# --- reading ----------------------------------------------------------------------------


def _date_of(task: TaskTrigger, key: str) -> date:
    """Return the local date of a key of a day or of a finer time."""
    return local_day(task, _minute_of(task, key)) if ":" in key else parse_date(key)


def _minute_of(task: TaskTrigger, key: str) -> datetime:
    unit, zone = unit_of(task), task.timezone
    if ":" not in key or _KEY.fullmatch(key) is None:
        raise TaskKeyError(
            f'{shown(key)} is not a time of {with_article(unit)} task; write it as "{_nearest(key, unit)}"'
        )
    wall = _wall_of(key, unit)
    if not instants(wall, zone):
        finest = "hour" if unit == "hour" else "minute"
        skipping = period_around(gap_end(wall, zone) - timedelta(microseconds=1), finest, zone)
        after = format_time_key(skipping.end, _minutes_of(zone))
        raise TaskKeyError(
            f'{shown(key)} does not exist: clocks in {zone} skip that time; the next {finest} is "{after}"'
        )
    try:
        return parse_time_key(key, _minutes_of(zone)).start
    except PartitionKeyError as error:
        raise TaskKeyError(str(error)) from error


def _wall_of(key: str, unit: Unit) -> datetime:
    """Return the wall time of a well-formed key, without regard to its offset."""
    parts = _KEY.fullmatch(key)
    assert parts is not None
    year, month, day, hour, minute = (int(part or 0) for part in parts.groups())
    try:
        wall = datetime(year, month, day, hour, minute)
    except ValueError as error:
        raise TaskKeyError(
            f'{shown(key)} is not a date and time of the calendar; write "{_nearest(key, unit)}"'
        ) from error
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise TaskKeyError(f"{shown(key)} is too far away; write a year from {FIRST_YEAR:04} to {LAST_YEAR}")
    return wall


def _nearest(key: str, unit: Unit) -> str:
    """Return what a wrong key means, as a key of a unit; an example if that cannot be read."""
    wall = wall_meant(key)
    if wall is None:
        return EXAMPLES[unit]
    times = {"minute": f"-{wall:%H:%M}", "hour": f"-{wall:%H}:00", "day": ""}
    return wall.date().isoformat() + times[unit]


def _midnight(task: TaskTrigger, day: date) -> datetime:
    """Return the start of a date that the task's zone has."""
    begin = first_instant(datetime(day.year, day.month, day.day), task.timezone)
    if (after := local_day(task, begin)) != day:
        raise TaskKeyError(
            f'"{day}" does not exist: clocks in {task.timezone} skip that day; the next day is "{after}"'
        )
    return begin


def _minutes_of(zone: str) -> TimeDimension:
    """Return the partitions by the minute, whose keys are those of all scheduled times with a time of day."""
    return TimeDimension(name="minute", cycle="minute", start=f"{FIRST_YEAR:04}-01-01", timezone=zone)
