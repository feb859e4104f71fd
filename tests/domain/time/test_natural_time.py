"""Natural hours and days: where they begin and end, and that they equal the cycles of partitions."""

from datetime import UTC, date, datetime, timedelta

import pytest

from tidegate.domain.time.cycle import period_of
from tidegate.domain.time.natural_time import Unit, begin_before, begin_of, period_around, steady_offset
from tidegate.domain.time.wall_clock import UnknownZoneError

BERLIN = "Europe/Berlin"
LORD_HOWE = "Australia/Lord_Howe"
NEW_YORK = "America/New_York"
TROLL = "Antarctica/Troll"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


HOURS = [
    ("an hour", NEW_YORK, "03-10T10:17:30-04:00", "03-10T10:00-04:00", "03-10T11:00-04:00"),
    ("before the gap", NEW_YORK, "03-08T01:59-05:00", "03-08T01:00-05:00", "03-08T03:00-04:00"),
    ("the first pass", NEW_YORK, "11-01T01:30-04:00", "11-01T01:00-04:00", "11-01T01:00-05:00"),
    ("the second pass", NEW_YORK, "11-01T01:30-05:00", "11-01T01:00-05:00", "11-01T02:00-05:00"),
    ("90 minutes, back", LORD_HOWE, "04-05T01:45+10:30", "04-05T01:00+11:00", "04-05T02:00+10:30"),
    ("90 minutes, forward", LORD_HOWE, "10-04T02:45+11:00", "10-04T01:00+10:30", "10-04T03:00+11:00"),
    ("two hours, first pass", TROLL, "10-25T02:59+02:00", "10-25T02:00+02:00", "10-25T01:00+00:00"),
    ("two hours, second pass", TROLL, "10-25T01:30+00:00", "10-25T01:00+00:00", "10-25T02:00+00:00"),
]


@pytest.mark.parametrize(
    ("sentence", "zone", "instant", "start", "end"), HOURS, ids=[row[0] for row in HOURS]
)
def test_a_natural_hour_begins_at_a_full_hour_of_the_wall_clock(
    sentence: str, zone: str, instant: str, start: str, end: str
) -> None:
    hour = period_around(at(f"2026-{instant}"), "hour", zone)
    assert (hour.start, hour.end) == (at(f"2026-{start}"), at(f"2026-{end}"))
    assert begin_before(hour.end, "hour", zone) == hour.start


@pytest.mark.parametrize("zone", [BERLIN, LORD_HOWE, NEW_YORK, "Asia/Kathmandu", "Africa/Cairo", "UTC"])
@pytest.mark.parametrize("unit", ["minute", "hour", "day"])
def test_they_are_the_cycles_of_partitions(unit: Unit, zone: str) -> None:
    instant = at("2026-01-01T00:00:00.5+00:00")
    while instant.year == 2026:
        assert period_around(instant, unit, zone) == period_of(instant, unit, zone)
        assert begin_of(instant, unit, zone) == period_of(instant, unit, zone).start
        instant += timedelta(hours=7, minutes=13)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        (NEW_YORK, date(2026, 3, 10), -4),
        (NEW_YORK, date(2026, 3, 9), None),
        (NEW_YORK, date(2026, 3, 8), None),
        (NEW_YORK, date(2026, 3, 7), None),
        (NEW_YORK, date(2026, 3, 6), -5),
        ("UTC", date(2026, 3, 8), 0),
        # Years whose clock changes are not known.
        ("UTC", date(1, 1, 1), None),
        ("UTC", date(9999, 12, 31), None),
    ],
)
def test_an_offset_is_steady_a_day_away_from_clock_changes(zone: str, day: date, hours: int | None) -> None:
    assert steady_offset(zone, day) == (None if hours is None else timedelta(hours=hours))


def test_an_instant_has_a_zone_that_exists() -> None:
    with pytest.raises(ValueError, match="needs a time zone"):
        begin_of(datetime(2026, 3, 10), "hour", "UTC")
    with pytest.raises(UnknownZoneError):
        begin_of(at("2026-03-10T00:00+00:00"), "hour", "Mars/Olympus")
    # An instant may be written in any zone.
    assert begin_of(datetime.fromisoformat("2026-03-10T10:17+05:30"), "hour", "UTC") == at(
        "2026-03-10T04:00+00:00"
    )
