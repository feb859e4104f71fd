"""Cycles: minutes to years on the clocks of a zone.

A period is [start, end) in UTC, so a day may have 23 or 25 hours, and an hour that the clocks repeat is
two periods. A period belongs to the coarser period in which it *begins*. This matters only for weeks,
which do not nest in months and years: the week of Sunday 29 March belongs to March. Weeks begin on
Sunday, as in Dagster, unless the caller names another day.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import assert_never

from tidegate.domain.model import Cycle, Day
from tidegate.domain.time.wall_clock import first_instant, instants, wall_time
from tidegate.domain.value import Value

CYCLES: tuple[Cycle, ...] = ("minute", "hour", "day", "week", "month", "year")
"""From the finest to the coarsest."""

DAYS_OF_WEEK: tuple[Day, ...] = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
"""In the order of cron, where Sunday is 0; a date's `isoweekday() % 7` is its number."""

_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)

CHANGED_AT_MOST = 3
"""Hours by which clocks go back at most: two in Antarctica/Troll."""


class Period(Value, kw_only=True):
    """One period of a cycle: [start, end), both aware UTC datetimes."""

    start: datetime
    end: datetime


def is_finer(cycle: Cycle, than: Cycle) -> bool:
    """Return whether a period of `than` contains several of `cycle` (weeks count where they begin)."""
    return CYCLES.index(cycle) < CYCLES.index(than)


def nests_in(cycle: Cycle, coarser: Cycle) -> bool:
    """Return whether each period of `cycle` is within one of `coarser`. A week does not nest in a month."""
    return cycle == coarser or (is_finer(cycle, coarser) and cycle != "week")


def truncate(instant: datetime, cycle: Cycle, zone: str, week_starts: Day = "sun") -> datetime:
    """Return the start of the period in which an instant lies, in UTC.

    Raises:
        ValueError: `instant` is naive, or `zone` is unknown (`UnknownZoneError`).
    """
    wall = wall_time(instant, zone)
    match cycle:
        case "minute":
            return instant.astimezone(UTC).replace(second=0, microsecond=0)
        case "hour":
            return max(found for found in _hours_around(wall, zone) if found <= instant)
        case "day" | "week" | "month" | "year":
            return _midnight(_first_date(wall.date(), cycle, week_starts), zone)
        case _:
            assert_never(cycle)


def advance(start: datetime, cycle: Cycle, n: int, zone: str = "UTC", week_starts: Day = "sun") -> datetime:
    """Return the start of the n-th period after (before, for a negative n) the one that contains `start`.

    Raises:
        OverflowError: that period is outside the years 1 to 9999.
    """
    begin = truncate(start, cycle, zone, week_starts)
    match cycle:
        case "minute":
            return begin + n * _MINUTE
        case "hour":
            return _advance_hours(begin, n, zone)
        case "day" | "week" | "month" | "year":
            return _midnight(_move_date(wall_time(begin, zone).date(), cycle, n), zone)
        case _:
            assert_never(cycle)


def period_of(instant: datetime, cycle: Cycle, zone: str, week_starts: Day = "sun") -> Period:
    """Return the period in which an instant lies."""
    start = truncate(instant, cycle, zone, week_starts)
    return Period(start=start, end=advance(start, cycle, 1, zone, week_starts))


def _midnight(day: date, zone: str) -> datetime:
    return first_instant(datetime(day.year, day.month, day.day), zone)


def _first_date(day: date, cycle: Cycle, week_starts: Day) -> date:
    """Return the first date of the day, week, month or year of a date."""
    if cycle == "week":
        return day - timedelta(days=(day.isoweekday() - DAYS_OF_WEEK.index(week_starts)) % 7)
    if cycle == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if cycle == "year" else day


def _move_date(first: date, cycle: Cycle, n: int) -> date:
    """Return the first date of the n-th day, week, month or year after the one that begins on `first`."""
    if cycle in ("day", "week"):
        return first + timedelta(days=n if cycle == "day" else 7 * n)
    months = first.year * 12 + first.month - 1 + (n if cycle == "month" else 12 * n)
    year, month = divmod(months, 12)
    if not date.min.year <= year <= date.max.year:
        raise OverflowError(f"the year {year} is outside the calendar")
    return date(year, month + 1, 1)


# --- hours ------------------------------------------------------------------------------
# An hour begins whenever the minutes of the wall clock are 00. So a repeated hour is two periods,
# a skipped hour is not a period, and where clocks move by half an hour (Lord Howe) a wall-clock
# hour may last 90 minutes.


def _hours_around(wall: datetime, zone: str) -> Iterator[datetime]:
    """Yield the full hours around a wall time. Where clocks go back, later ones may show earlier times."""
    wall = wall.replace(minute=0, second=0, microsecond=0)
    for hours in range(-CHANGED_AT_MOST, CHANGED_AT_MOST + 1):
        yield from instants(wall + hours * _HOUR, zone)


def _advance_hours(start: datetime, n: int, zone: str) -> datetime:
    step = 1 if n > 0 else -1
    for _ in range(abs(n)):
        before = start - timedelta(microseconds=1)
        start = _next_hour(start, zone) if step > 0 else truncate(before, "hour", zone)
    return start


def _next_hour(start: datetime, zone: str) -> datetime:
    later = [found for found in _hours_around(wall_time(start, zone), zone) if found > start]
    if later:
        return min(later)
    # A zone that changes its side of the date line skips a day.
    walls = (wall_time(start, zone) + ahead * _HOUR for ahead in count(CHANGED_AT_MOST))
    return next(found for each in walls for found in instants(each, zone) if found > start)
