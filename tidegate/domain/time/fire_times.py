"""The fires of a cron trigger: its pattern on the days of its calendar.

The engine, lint and the scenarios use this module and not `domain.time.cron`, so that they never ignore
the calendar. A fire belongs to the day that the pattern names in the trigger's zone, even if a clock
change moves it past midnight. The time is an argument. A search ends with None after
`domain.time.cron.MAX_YEARS_APART` years.

Fire count: how many fires a cron has in a span of time, counted by days. A day far from any clock change
has as many fires as its pattern has times, all at one offset, so years of every minute are counted in
milliseconds. Near a change the fires themselves are counted.
"""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from tidegate.domain.model import WallClock
from tidegate.domain.time.calendar import is_business_day, nth_business_day
from tidegate.domain.time.cron import DayFilter, parse
from tidegate.domain.time.wall_clock import zone_of

ONE_DAY = timedelta(days=1)

LISTED = timedelta(days=2)
"""A shorter span is not counted by days."""

AROUND = timedelta(hours=3)
"""Longer than clocks are moved, but for a change of the date line, which a day's own hours show."""

TICK = timedelta(microseconds=1)


def count_fires(trigger: WallClock, after: datetime, until: datetime) -> int:
    """Return the number of fires in (after, until]."""
    if until - after <= LISTED:
        return _listed(trigger, after, until)
    zone = zone_of(trigger.timezone)
    pattern = parse(trigger.cron)
    times = [time(hour, minute) for hour in pattern.hours for minute in pattern.minutes]
    day, last = after.astimezone(zone).date(), until.astimezone(zone).date()
    found, reached = 0, after
    while day < last:
        offset = _offset(day, zone)
        if offset is None:
            day += ONE_DAY
            continue
        begin = datetime.combine(day, time(), UTC) - offset
        end = begin + ONE_DAY
        if begin > reached:
            # Days near a clock change lie in between.
            found += _listed(trigger, reached, begin - TICK)
            reached = begin - TICK
        if fires_on(trigger, day):
            wall = (reached + offset).replace(tzinfo=None) if reached >= begin else None
            found += len(times) - (0 if wall is None else bisect_right(times, wall.time()))
        reached = max(reached, end - TICK)
        day += ONE_DAY
    return found + _listed(trigger, reached, until)


@lru_cache(maxsize=1_024)
def _listed(trigger: WallClock, after: datetime, until: datetime) -> int:
    """Return the number of fires, one after the other; a search asks for those of a clock change again."""
    return sum(1 for _ in fires(trigger, after, until))


@lru_cache(maxsize=16_384)
def _offset(day: date, zone: ZoneInfo) -> timedelta | None:
    """Return the offset of a zone on a day; None if its clocks change then, or right before or after it."""
    begin = datetime.combine(day, time(), zone).astimezone(UTC)
    end = datetime.combine(day + ONE_DAY, time(), zone).astimezone(UTC)
    offsets = {each.astimezone(zone).utcoffset() for each in (begin - AROUND, begin, end, end + AROUND)}
    (offset,) = offsets if len(offsets) == 1 and end - begin == ONE_DAY else (None,)
    return offset


def next_fire(trigger: WallClock, after: datetime) -> datetime | None:
    """Return the first fire strictly after an instant, in UTC; None if there is none within the horizon.

    Raises:
        ValueError: `after` is naive, or pattern, zone or calendar are not valid (lint refuses these).
    """
    try:
        return parse(trigger.cron).next_fire(after, trigger.timezone, _days_that_count(trigger))
    except OverflowError:
        return None


def previous_fire(trigger: WallClock, at_or_before: datetime) -> datetime | None:
    """Return the last fire at or before an instant, in UTC, or None; raise the errors of `next_fire`."""
    try:
        return parse(trigger.cron).previous_fire(at_or_before, trigger.timezone, _days_that_count(trigger))
    except OverflowError:
        return None


def fires(trigger: WallClock, after: datetime, until: datetime) -> Iterator[datetime]:
    """Yield every fire in (after, until], ascending, in UTC; raise the errors of `next_fire`."""
    instant = next_fire(trigger, after)
    while instant is not None and instant <= until:
        yield instant
        instant = next_fire(trigger, instant)


def day_of(trigger: WallClock, fire: datetime) -> date:
    """Return the day to which a fire belongs: that of the time that the pattern names in the trigger's zone.

    A time before `day_starts` belongs to the day before.
    """
    return day_that_runs(wall_of(trigger, fire), trigger.day_starts)


def wall_of(trigger: WallClock, fire: datetime) -> datetime:
    """Return the wall time that the pattern names for one of its fires, in the trigger's zone, naive."""
    return parse(trigger.cron).wall_of(fire, trigger.timezone, _days_that_count(trigger))


def is_fixed(trigger: WallClock) -> bool:
    """Return whether it fires at fixed times of the day, and not in every real hour of a pattern."""
    return parse(trigger.cron).hours_kind == "fixed"


def day_that_runs(wall: datetime, day_starts: time) -> date:
    """Return the day to which a wall time belongs where days begin at `day_starts`."""
    return wall.date() - timedelta(days=1) if wall.time() < day_starts else wall.date()


def fires_on(trigger: WallClock, day: date) -> bool:
    """Return whether the trigger fires on a date of its zone, without regard to clock changes."""
    counts = _days_that_count(trigger)
    return parse(trigger.cron).matches(day) and (counts is None or counts(day))


def _days_that_count(trigger: WallClock) -> DayFilter | None:
    """Return the day filter of a trigger's calendar; None if every day counts."""
    calendar, nth = trigger.calendar, trigger.nth_business_day
    if calendar is None:
        return None
    if nth is None:
        return lambda day: is_business_day(calendar, day)
    return lambda day: nth_business_day(calendar, day.year, day.month, nth) == day
