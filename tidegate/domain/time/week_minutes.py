"""Sets of minutes of the week, on a wall clock: when a window may be open, when a cron may fire.

A set is an integer with one bit for each minute from Monday 00:00. It holds every minute at which
something can happen in any year: holidays, months and days of the month are left out. So an empty
intersection of two sets is a proof, and a common minute is not. Lint uses the sets to refuse schedules
that never launch.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from tidegate.domain.model import Calendar, WallClock, WindowConstraint
from tidegate.domain.time.calendar import DAY_NAMES
from tidegate.domain.time.clock_change import clock_changes
from tidegate.domain.time.cron import parse
from tidegate.domain.time.wall_clock import zone_of

DAY = 24 * 60
WEEK = 7 * DAY
EVERY_MINUTE = (1 << WEEK) - 1

FIRST_YEAR, LAST_YEAR = 2000, 2050
"""The years whose clocks count. Later ones follow the same rules as far as the zone database knows."""

CACHED_ZONES = 512

_ONE_WEEK = timedelta(days=7)


def later(minutes: int, by: int) -> int:
    """Return the set `by` minutes later; earlier for a negative number."""
    by %= WEEK
    return ((minutes << by) | (minutes >> (WEEK - by))) & EVERY_MINUTE


def spread(minutes: int, by: int) -> int:
    """Return each minute of a set with the `by` minutes after it."""
    if minutes and by >= WEEK:
        return EVERY_MINUTE
    reached, found = 0, minutes
    while reached < by:
        step = min(reached + 1, by - reached)
        found |= later(found, step)
        reached += step
    return found


def starts(minutes: int) -> Iterator[tuple[int, int]]:
    """Yield the first minute of each gap-free span of a set, and the length of the gap before it."""
    for first in _listed(minutes & ~later(minutes, 1)):
        gap = 1
        while not minutes >> ((first - gap - 1) % WEEK) & 1:
            gap += 1
        yield first, gap


def window_minutes(window: WindowConstraint) -> int:
    """Return the minutes at which a window may be open, on the wall clock of its zone."""
    begin = window.from_.hour * 60 + window.from_.minute
    length = (window.to.hour * 60 + window.to.minute - begin) % DAY
    found = 0
    for number in _weekdays(window.calendar):
        if not window.days or DAY_NAMES[number] in window.days:
            found |= later((1 << length) - 1, number * DAY + begin)
    return found


def fire_minutes(cron: WallClock) -> int:
    """Return the minutes at which a cron may fire, on the wall clock of its zone.

    A fixed time that clocks skip fires at the end of the gap, so that minute belongs to the set.
    """
    pattern = parse(cron.cron)
    weekdays = _weekdays(cron.calendar)
    if not pattern.either_day:
        # Cron counts from Sunday.
        weekdays &= {(day - 1) % 7 for day in pattern.weekdays}
    found = 0
    for number in weekdays:
        for hour in pattern.hours:
            for minute in pattern.minutes:
                found |= 1 << (number * DAY + hour * 60 + minute)
    if pattern.hours_kind != "every":
        for begin, length in _gaps(cron.timezone):
            if found & later((1 << length) - 1, begin):
                found |= 1 << ((begin + length) % WEEK)
    return found


@lru_cache(maxsize=CACHED_ZONES)
def offsets(zone: str) -> tuple[int, ...]:
    """Return the offsets from UTC that a zone has, in minutes."""
    info, found = zone_of(zone), set[int]()
    instant, end = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), datetime(LAST_YEAR, 12, 31, tzinfo=UTC)
    while instant < end:
        offset = instant.astimezone(info).utcoffset()
        assert offset is not None
        found.add(round(offset.total_seconds() / 60))
        instant += _ONE_WEEK
    return tuple(sorted(found))


@lru_cache(maxsize=CACHED_ZONES)
def _gaps(zone: str) -> frozenset[tuple[int, int]]:
    """Return the spans of wall time that clocks skip: the first minute of the week, and the length."""
    begin, end = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), datetime(LAST_YEAR, 12, 31, tzinfo=UTC)
    return frozenset(
        (_minute_of(change.shown_before), (change.shown_after - change.shown_before) // timedelta(minutes=1))
        for change in clock_changes(zone, begin, end)
        if change.forward
    )


def _minute_of(wall: datetime) -> int:
    return wall.weekday() * DAY + wall.hour * 60 + wall.minute


def _weekdays(calendar: Calendar | None) -> set[int]:
    """Return the days of the week, Monday first, that can be business days of a calendar."""
    if calendar is None:
        return set(range(7))
    opened = {day.weekday() for day in calendar.open}
    return opened | {number for number, day in enumerate(DAY_NAMES) if day not in calendar.weekend}


def _listed(minutes: int) -> Iterator[int]:
    while minutes:
        lowest = minutes & -minutes
        yield lowest.bit_length() - 1
        minutes ^= lowest
