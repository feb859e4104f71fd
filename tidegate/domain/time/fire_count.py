"""Fire count: how many fires a cron has in a span of time, counted by days.

A day far from any clock change has as many fires as its pattern has times, all at one offset, so years of
every minute are counted in milliseconds. Near a change the fires themselves are counted.
"""

from bisect import bisect_right
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from tidegate.domain.model import WallClock
from tidegate.domain.time.cron import parse
from tidegate.domain.time.fire_times import fires, fires_on
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
