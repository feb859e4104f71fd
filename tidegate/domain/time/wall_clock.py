"""Conversion between wall times and instants in a zone with clock changes.

A *wall time* is a naive datetime, the local time of a zone; an *instant* is an aware UTC datetime. A
wall time has one instant, none (it is in the gap when clocks are put forward) or two (it repeats when
clocks are put back). The whole project uses the functions below for such times. Nothing here reads
a clock; the only external data is the zone database.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from tidegate.domain.error import UserError

_SECOND = timedelta(seconds=1)


class UnknownZoneError(UserError, ValueError):
    """A time zone name that the zone database does not know."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f'unknown time zone "{name[:100]}"',
            'write a name of the IANA zone database, for example "America/New_York" or "UTC"',
        )


@lru_cache(maxsize=1024)
def zone_of(name: str) -> ZoneInfo:
    """Return the zone of an IANA name.

    Raises:
        UnknownZoneError: the zone does not exist.
    """
    try:
        return ZoneInfo(name)
    except (
        KeyError,
        ValueError,
        OSError,
    ) as error:  # "", "../x" and the name of a directory raise the last two
        raise UnknownZoneError(name) from error


def wall_time(instant: datetime, zone: str) -> datetime:
    """Return the wall time of an instant in `zone`, as a naive datetime.

    Raises:
        ValueError: `instant` is naive.
        UnknownZoneError: the zone does not exist.
    """
    if instant.tzinfo is None:
        raise ValueError(f"an instant needs a time zone, got the naive {instant.isoformat()}")
    return instant.astimezone(zone_of(zone)).replace(tzinfo=None, fold=0)


def instants(wall: datetime, zone: str) -> tuple[datetime, ...]:
    """Return the instants of a wall time in `zone`, the earlier first: none, one or two."""
    info = zone_of(zone)
    first = wall.replace(tzinfo=info, fold=0)
    second = wall.replace(tzinfo=info, fold=1)
    if first.utcoffset() == second.utcoffset():
        return (first.astimezone(UTC),)
    early, late = first.astimezone(UTC), second.astimezone(UTC)
    # A wall time in a gap does not survive the conversion to UTC and back.
    if early.astimezone(info).replace(tzinfo=None, fold=0) != wall:
        return ()
    return (early, late)


def first_instant(wall: datetime, zone: str) -> datetime:
    """Return the first instant at or after `wall` in `zone`.

    For a wall time in a gap this is the first instant after the gap, for a repeated one the earlier.
    """
    found = instants(wall, zone)
    return found[0] if found else gap_end(wall, zone)


def gap_end(wall: datetime, zone: str) -> datetime:
    """Return the first instant after the gap in which `wall` lies, to the second."""
    info = zone_of(zone)
    # With the offset after the gap, the wall time converts to an instant before it, and vice versa.
    before = wall.replace(tzinfo=info, fold=1).astimezone(UTC)
    after = wall.replace(tzinfo=info, fold=0).astimezone(UTC)
    offset_before = before.astimezone(info).utcoffset()
    while after - before > _SECOND:
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle <= before:
            middle = before + _SECOND
        if middle.astimezone(info).utcoffset() == offset_before:
            before = middle
        else:
            after = middle
    return after
