"""When a cron trigger fires: its pattern, on the days that its calendar lets count.

The engine, lint and the scenarios ask here, never `domain.time.cron` about a trigger, so that a
calendar cannot be forgotten. A fire belongs to the day that the pattern names in the cron's
zone, also where a change of the clocks moves it past midnight. The time is an argument.
Nothing searches further than `domain.time.cron.MAX_YEARS_APART`: beyond it the answer is None.
"""

from collections.abc import Iterator
from datetime import date, datetime

from tidegate.domain.model import WallClock
from tidegate.domain.time.calendar import is_business_day, nth_business_day
from tidegate.domain.time.cron import DayFilter, parse


def next_fire(trigger: WallClock, after: datetime) -> datetime | None:
    """The first fire strictly after an instant, in UTC; None if there is none within the horizon.

    Raises:
        ValueError: `after` is naive, or pattern, zone or calendar are wrong (lint refuses those).
    """
    try:
        return parse(trigger.cron).next_fire(after, trigger.timezone, _days_that_count(trigger))
    except OverflowError:
        return None


def previous_fire(trigger: WallClock, at_or_before: datetime) -> datetime | None:
    """The last fire at or before an instant, in UTC; None if there is none. Raises as `next_fire`."""
    try:
        return parse(trigger.cron).previous_fire(at_or_before, trigger.timezone, _days_that_count(trigger))
    except OverflowError:
        return None


def fires(trigger: WallClock, after: datetime, until: datetime) -> Iterator[datetime]:
    """Every fire in (after, until], ascending, in UTC. Raises as `next_fire`."""
    instant = next_fire(trigger, after)
    while instant is not None and instant <= until:
        yield instant
        instant = next_fire(trigger, instant)


def fires_on(trigger: WallClock, day: date) -> bool:
    """Whether the trigger has fires on a date of its zone, clocks aside."""
    counts = _days_that_count(trigger)
    return parse(trigger.cron).matches(day) and (counts is None or counts(day))


def _days_that_count(trigger: WallClock) -> DayFilter | None:
    """The filter that a trigger's calendar is; None if every day counts."""
    calendar, nth = trigger.calendar, trigger.nth_business_day
    if calendar is None:
        return None
    if nth is None:
        return lambda day: is_business_day(calendar, day)
    return lambda day: nth_business_day(calendar, day.year, day.month, nth) == day
