"""Business dates: the period before a day, whatever the outputs' zone, or the one over at an instant."""

from datetime import UTC, date, datetime

import pytest

from tidegate.domain.business_date import business_date
from tidegate.domain.model import Day, PartitionScheme, StaticDimension, TimeDimension
from tidegate.domain.model.dataset import Cycle

ORIGINS = PartitionScheme(static=StaticDimension(name="origin", keys=("JFK", "LGA")))


def scheme(cycle: Cycle, zone: str = "UTC", week_starts: Day = "sun") -> PartitionScheme:
    time = TimeDimension(name="t", cycle=cycle, start="2000-01-01", timezone=zone, week_starts=week_starts)
    return PartitionScheme(time=time)


ROWS = [
    ("a day before, without outputs", "2026-03-10", "2026-03-10T06:00", None, "2026-03-09"),
    ("a day before, without periods", "2026-03-10", "2026-03-10T06:00", ORIGINS, "2026-03-09"),
    ("a day before", "2026-03-10", "2026-03-10T06:00", scheme("day"), "2026-03-09"),
    (
        "the day is carried as it reads to a zone that is behind",
        "2026-03-10",
        "2026-03-09T17:00",
        scheme("day", "America/New_York"),
        "2026-03-09",
    ),
    (
        "the day is carried as it reads to a zone that is ahead",
        "2026-03-09",
        "2026-03-10T03:30",
        scheme("day", "Asia/Tokyo"),
        "2026-03-08",
    ),
    (
        "a day that begins at one, since clocks skip its midnight",
        "2026-03-08",
        "2026-03-08T12:00",
        scheme("day", "America/Havana"),
        "2026-03-07",
    ),
    ("the week before", "2026-03-08", "2026-03-08T06:00", scheme("week"), "2026-03-01"),
    ("a week from Monday", "2026-03-08", "2026-03-08T06:00", scheme("week", week_starts="mon"), "2026-02-23"),
    ("the month before", "2026-03-01", "2026-02-28T17:00", scheme("month", "Pacific/Honolulu"), "2026-02-01"),
    ("the year before", "2026-01-01", "2025-12-31T17:00", scheme("year"), "2025-01-01"),
    ("the hour that is over", "2026-03-10", "2026-03-10T06:10", scheme("hour"), "2026-03-10-05:00"),
    (
        "the hour that is over where the outputs are, whatever the day",
        "2026-03-10",
        "2026-03-10T00:40",
        scheme("hour", "America/New_York"),
        "2026-03-09-19:00",
    ),
    (
        "the second pass of a repeated hour",
        "2026-11-01",
        "2026-11-01T07:05",
        scheme("hour", "America/New_York"),
        "2026-11-01-01:00-0500",
    ),
    ("the minute that is over", "2026-03-10", "2026-03-10T06:10", scheme("minute"), "2026-03-10-06:09"),
]


@pytest.mark.parametrize(("sentence", "day", "at", "outputs", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_business_date(
    sentence: str, day: str, at: str, outputs: PartitionScheme | None, expected: str
) -> None:
    instant = datetime.fromisoformat(at).replace(tzinfo=UTC)
    assert business_date(date.fromisoformat(day), instant, outputs) == expected


def test_a_day_before_the_calendar_has_none() -> None:
    with pytest.raises(OverflowError):
        business_date(date.min, datetime.min.replace(tzinfo=UTC), None)
