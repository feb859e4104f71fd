"""Natural minutes, hours and days: the periods between which the instances of tasks are counted.

A natural hour begins whenever the wall clock shows a full hour: each pass of a doubled hour is one, a
skipped hour is none, and where clocks move by half an hour one lasts 30 or 90 minutes. The engine makes a
hundred thousand instances a day. So the periods are computed with the offset of the zone, and the zone is
searched only near a clock change. `domain.time.cycle` has all cycles of partitions.
"""

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal

from tidegate.domain.time.clock_change import FIRST_YEAR, LAST_YEAR, clock_changes
from tidegate.domain.time.cycle import Period, period_of, truncate
from tidegate.domain.time.wall_clock import wall_time, zone_of

Unit = Literal["minute", "hour", "day"]

OFFSETS_KEPT = 4_096
"""Size of the cache of offsets: ten days in each of 400 zones."""

_LENGTH: dict[Unit, timedelta] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
}
_HOUR, _DAY = _LENGTH["hour"], _LENGTH["day"]
_MICROSECOND = timedelta(microseconds=1)


@lru_cache(maxsize=OFFSETS_KEPT)
def steady_offset(zone: str, day: date) -> timedelta | None:
    """Return the only offset from UTC that a zone has on a date, the day before and the day after.

    The date may be one of UTC or of the zone: the margin is larger than any offset.

    Returns:
        None if the clocks change within these three days, or the year is not one of those whose changes
        are known.
    """
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        return None
    begin = datetime(day.year, day.month, day.day, tzinfo=UTC)
    if next(clock_changes(zone, begin - _DAY, begin + 2 * _DAY), None) is not None:
        return None
    return begin.astimezone(zone_of(zone)).utcoffset()


def begin_of(instant: datetime, unit: Unit, zone: str) -> datetime:
    """Return the start of the natural minute, hour or day in which an instant lies, in UTC.

    Raises:
        ValueError: `instant` is naive, or `zone` is unknown (`UnknownZoneError`).
    """
    if instant.tzinfo is None:
        raise ValueError(f"an instant needs a time zone, got the naive {instant.isoformat()}")
    instant = instant.astimezone(UTC)
    offset = steady_offset(zone, instant.date())
    if offset is None:
        return _hour_begin(instant, zone) if unit == "hour" else truncate(instant, unit, zone)
    wall = instant + offset
    if unit == "minute":
        return wall.replace(second=0, microsecond=0) - offset
    if unit == "hour":
        return wall.replace(minute=0, second=0, microsecond=0) - offset
    return wall.replace(hour=0, minute=0, second=0, microsecond=0) - offset


def begin_before(start: datetime, unit: Unit, zone: str) -> datetime:
    """Return the start of the natural minute, hour or day that ends where another one starts."""
    return begin_of(start - _MICROSECOND, unit, zone)


def period_around(instant: datetime, unit: Unit, zone: str) -> Period:
    """Return the natural minute, hour or day in which an instant lies; raise the errors of `begin_of`."""
    start = begin_of(instant, unit, zone)
    instant = instant.astimezone(UTC)
    if steady_offset(zone, instant.date()) is not None:
        return Period(start=start, end=start + _LENGTH[unit])
    return (
        Period(start=start, end=_hour_end(instant, zone)) if unit == "hour" else period_of(start, unit, zone)
    )


# --- hours near a clock change ----------------------------------------------------------


def _hour_begin(instant: datetime, zone: str) -> datetime:
    """Return the last full hour of the wall clock at or before an instant."""
    begin = instant - _since_full_hour(instant, zone)
    changes = tuple(clock_changes(zone, begin, instant))
    # The clocks did not show that full hour, unless no change is after it.
    return _hour_begin(changes[-1].at - _MICROSECOND, zone) if changes else begin


def _hour_end(instant: datetime, zone: str) -> datetime:
    """Return the first full hour of the wall clock after an instant."""
    end = instant - _since_full_hour(instant, zone) + _HOUR
    change = next(clock_changes(zone, instant, end), None)
    if change is None:
        return end
    # The clocks do not show that full hour, since they change before it or at it.
    return change.at if not _since_full_hour(change.at, zone) else _hour_end(change.at, zone)


def _since_full_hour(instant: datetime, zone: str) -> timedelta:
    wall = wall_time(instant, zone)
    return wall - wall.replace(minute=0, second=0, microsecond=0)
