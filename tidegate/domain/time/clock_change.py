"""Clock changes: the instants at which the clocks of a zone are put forward or back.

The zone database gives only the offset at an instant, so a change is found by comparing the offsets
of successive days and then by bisection. Lint lists the next changes, a window may open at one, and
the Dagster schedules need the affected hours. The time is an argument.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from tidegate.domain.time.wall_clock import zone_of
from tidegate.domain.value import Value

STEP = timedelta(days=1)
"""No zone changes its clocks twice within this time."""

CACHED_YEARS = 4_096
"""Size of the cache: 400 zones for ten years, most of them with two changes a year."""

FIRST_YEAR, LAST_YEAR = 2, 9998
"""In the years 1 and 9999 some wall times are outside the range of `datetime`."""

_SECOND = timedelta(seconds=1)


class ClockChange(Value, kw_only=True):
    """One change of the clocks.

    Attributes:
        at: the instant, in UTC.
        shown_before: the wall time that the clocks would show at that instant without the change.
        shown_after: the wall time that they do show.
    """

    at: datetime
    shown_before: datetime
    shown_after: datetime

    @property
    def forward(self) -> bool:
        """Whether the clocks are put forward and skip wall times; else some wall times repeat."""
        return self.shown_before < self.shown_after

    @property
    def changed(self) -> tuple[datetime, datetime]:
        """The wall times that are skipped or repeated: from the first (included) to the second (excluded)."""
        return min(self.shown_before, self.shown_after), max(self.shown_before, self.shown_after)


def clock_changes(zone: str, after: datetime, until: datetime) -> Iterator[ClockChange]:
    """Yield the changes of a zone's clocks in (after, until], ascending, to the second.

    Raises:
        ValueError: an instant is naive, or `zone` is unknown (`UnknownZoneError`).
    """
    if after.tzinfo is None or until.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    years = max(after.astimezone(UTC).year, FIRST_YEAR), min(until.astimezone(UTC).year, LAST_YEAR)
    for year in range(years[0], years[1] + 1):
        yield from (change for change in _of_year(zone, year) if after < change.at <= until)


@lru_cache(maxsize=CACHED_YEARS)
def _of_year(zone: str, year: int) -> tuple[ClockChange, ...]:
    """Return the changes within a year of UTC."""
    low, end = (datetime(y, 12, 31, 23, 59, 59, tzinfo=UTC) for y in (year - 1, year))
    found: list[ClockChange] = []
    while low < end:
        high = min(low + STEP, end)
        if _offset(low, zone) != _offset(high, zone):
            found.append(_change_between(low, high, zone))
        low = high
    return tuple(found)


def _change_between(low: datetime, high: datetime, zone: str) -> ClockChange:
    """Return the only change in (low, high]."""
    before, after = _offset(low, zone), _offset(high, zone)
    while high - low > _SECOND:
        middle = low + timedelta(seconds=(high - low) // _SECOND // 2)
        if _offset(middle, zone) == before:
            low = middle
        else:
            high = middle
    return ClockChange(
        at=high,
        shown_before=high.replace(tzinfo=None) + before,
        shown_after=high.replace(tzinfo=None) + after,
    )


def _offset(instant: datetime, zone: str) -> timedelta:
    offset = instant.astimezone(zone_of(zone)).utcoffset()
    assert offset is not None
    return offset
