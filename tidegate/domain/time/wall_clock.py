"""Wall clocks and instants: what a local time means in a zone whose clocks are changed.

A *wall time* is a naive datetime, what a clock on the wall shows; an *instant* is an aware
UTC datetime. A wall time may name one instant, none (it lies in the gap of a clock put
forward) or two (the hour that a clock put back shows twice). All of the project's
decisions about such times are made with the three functions below and nowhere else.
Nothing here reads a clock: the only outside knowledge is the zone database.
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
    """The zone of an IANA name.

    Raises:
        UnknownZoneError: no such zone.
    """
    try:
        return ZoneInfo(name)
    except (
        KeyError,
        ValueError,
        OSError,
    ) as error:  # "", "../x" and a directory's name raise the latter two
        raise UnknownZoneError(name) from error


def wall_time(instant: datetime, zone: str) -> datetime:
    """What the clocks in `zone` show at an instant, as a naive datetime.

    Raises:
        ValueError: `instant` is naive.
        UnknownZoneError: no such zone.
    """
    if instant.tzinfo is None:
        raise ValueError(f"an instant needs a time zone, got the naive {instant.isoformat()}")
    return instant.astimezone(zone_of(zone)).replace(tzinfo=None, fold=0)


def instants(wall: datetime, zone: str) -> tuple[datetime, ...]:
    """Every instant at which the clocks in `zone` show `wall`, the earlier first: none, one or two."""
    info = zone_of(zone)
    first = wall.replace(tzinfo=info, fold=0)
    second = wall.replace(tzinfo=info, fold=1)
    if first.utcoffset() == second.utcoffset():
        return (first.astimezone(UTC),)
    early, late = first.astimezone(UTC), second.astimezone(UTC)
    # In a gap both readings show another time when they are read back.
    if early.astimezone(info).replace(tzinfo=None, fold=0) != wall:
        return ()
    return (early, late)


def first_instant(wall: datetime, zone: str) -> datetime:
    """The first instant that is not before `wall` on the clocks in `zone`.

    A time in the gap means the first instant after it; of a doubled time the earlier one.
    """
    found = instants(wall, zone)
    return found[0] if found else gap_end(wall, zone)


def gap_end(wall: datetime, zone: str) -> datetime:
    """The first instant after the gap in which `wall` lies, to the second."""
    info = zone_of(zone)
    # Reading the wall time with the offset of after the gap lands before it, and the other way round.
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
