"""Cycles: where periods begin and end, in days of 23 and 25 hours too."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tidegate.domain.model import Cycle, Day
from tidegate.domain.time.cycle import CYCLES, advance, is_finer, nests_in, period_of, truncate
from tidegate.domain.time.wall_clock import UnknownZoneError, first_instant, instants

NEW_YORK = "America/New_York"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("cycle", "start", "end"),
    [
        ("minute", "2026-03-11T15:42:00-04:00", "2026-03-11T15:43:00-04:00"),
        ("hour", "2026-03-11T15:00:00-04:00", "2026-03-11T16:00:00-04:00"),
        ("day", "2026-03-11T00:00:00-04:00", "2026-03-12T00:00:00-04:00"),
        # A week begins on Sunday; in this one the clocks were put forward.
        ("week", "2026-03-08T00:00:00-05:00", "2026-03-15T00:00:00-04:00"),
        ("month", "2026-03-01T00:00:00-05:00", "2026-04-01T00:00:00-04:00"),
        ("year", "2026-01-01T00:00:00-05:00", "2027-01-01T00:00:00-05:00"),
    ],
)
def test_a_period_begins_and_ends_on_the_clocks_of_its_zone(cycle: Cycle, start: str, end: str) -> None:
    period = period_of(at("2026-03-11T15:42:07.5-04:00"), cycle, NEW_YORK)
    assert (period.start, period.end) == (at(start), at(end))


@pytest.mark.parametrize(
    ("first_day", "start"),
    [
        ("sun", "2026-03-08T00:00-05:00"),
        ("mon", "2026-03-09T00:00-04:00"),
        ("tue", "2026-03-10T00:00-04:00"),
        ("wed", "2026-03-11T00:00-04:00"),
        ("thu", "2026-03-05T00:00-05:00"),
        ("sat", "2026-03-07T00:00-05:00"),
    ],
)
def test_a_week_begins_on_the_day_that_is_named(first_day: Day, start: str) -> None:
    # A Wednesday; the clocks were put forward on the Sunday before it.
    week = period_of(at("2026-03-11T15:42-04:00"), "week", NEW_YORK, first_day)
    assert week.start == at(start)
    assert advance(week.start, "week", 1, NEW_YORK, first_day) == week.end
    assert advance(week.end, "week", -1, NEW_YORK, first_day) == week.start


@pytest.mark.parametrize(
    ("zone", "noon", "hours"),
    [
        (NEW_YORK, "2013-03-10T12:00-04:00", 23),
        (NEW_YORK, "2013-11-03T12:00-05:00", 25),
        (NEW_YORK, "2013-11-04T12:00-05:00", 24),
        ("America/Havana", "2026-11-01T12:00-05:00", 25),
        ("America/Havana", "2026-03-08T12:00-04:00", 23),
        ("Africa/Cairo", "2026-04-24T12:00+03:00", 23),
        ("Antarctica/Troll", "2026-03-29T12:00+02:00", 22),
        ("Antarctica/Troll", "2026-10-25T12:00+00:00", 26),
    ],
)
def test_a_day_has_the_hours_that_it_has(zone: str, noon: str, hours: int) -> None:
    day = period_of(at(noon), "day", zone)
    assert day.end - day.start == timedelta(hours=hours)
    begun = day.start
    for _ in range(hours):
        begun = advance(begun, "hour", 1, zone)
    assert begun == day.end


def test_the_doubled_hour_is_two_hours() -> None:
    first = period_of(at("2013-11-03T01:30-04:00"), "hour", NEW_YORK)
    second = period_of(at("2013-11-03T01:30-05:00"), "hour", NEW_YORK)
    assert (first.start, first.end) == (at("2013-11-03T01:00-04:00"), at("2013-11-03T01:00-05:00"))
    assert (second.start, second.end) == (first.end, at("2013-11-03T02:00-05:00"))


def test_where_a_zone_changes_its_side_of_the_date_line_the_next_hour_is_a_day_ahead() -> None:
    # Samoa had no 30 December 2011.
    last = period_of(at("2011-12-29T23:30-10:00"), "hour", "Pacific/Apia")
    assert (last.start, last.end) == (at("2011-12-29T23:00-10:00"), at("2011-12-31T00:00+14:00"))
    assert last.end - last.start == timedelta(hours=1)
    assert advance(last.end, "hour", -1, "Pacific/Apia") == last.start


def test_where_clocks_move_by_half_an_hour_an_hour_of_the_wall_has_ninety_minutes() -> None:
    hour = period_of(at("2026-04-05T01:45+10:30"), "hour", "Australia/Lord_Howe")
    assert (hour.start, hour.end) == (at("2026-04-05T01:00+11:00"), at("2026-04-05T02:00+10:30"))


@pytest.mark.parametrize("zone", [NEW_YORK, "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"])
@pytest.mark.parametrize("cycle", CYCLES)
def test_periods_follow_one_another_without_gap_or_overlap(cycle: Cycle, zone: str) -> None:
    start = truncate(at("2026-02-27T03:14:15+00:00"), cycle, zone)
    for n in range(1, 60):
        after = advance(start, cycle, 1, zone)
        assert start < after
        assert truncate(start, cycle, zone) == start
        assert truncate(after - timedelta(microseconds=1), cycle, zone) == start
        assert advance(after, cycle, -1, zone) == start
        assert advance(truncate(at("2026-02-27T03:14:15+00:00"), cycle, zone), cycle, n, zone) == after
        start = after


def test_months_and_years_are_counted_not_added_up() -> None:
    assert advance(at("2024-01-31T00:00+00:00"), "month", 1) == at("2024-02-01T00:00+00:00")
    assert advance(at("2024-03-15T00:00+00:00"), "month", -14) == at("2023-01-01T00:00+00:00")
    assert advance(at("2024-02-29T00:00+00:00"), "year", 1) == at("2025-01-01T00:00+00:00")


def test_the_calendar_ends() -> None:
    with pytest.raises(OverflowError):
        advance(at("2026-01-01T00:00+00:00"), "year", 9000)


def test_cycles_are_ordered_and_only_the_week_does_not_nest() -> None:
    assert is_finer("minute", "hour") and is_finer("week", "month") and not is_finer("day", "day")
    assert nests_in("day", "week") and nests_in("hour", "year") and nests_in("week", "week")
    assert not nests_in("week", "month") and not nests_in("week", "year") and not nests_in("month", "day")


def test_a_wall_time_names_one_two_or_no_instant() -> None:
    assert len(instants(datetime(2013, 11, 3, 1, 30), NEW_YORK)) == 2
    assert instants(datetime(2013, 3, 10, 2, 30), NEW_YORK) == ()
    assert len(instants(datetime(2013, 3, 10, 3, 0), NEW_YORK)) == 1
    assert first_instant(datetime(2013, 3, 10, 2, 30), NEW_YORK) == at("2013-03-10T03:00-04:00")
    assert first_instant(datetime(2013, 11, 3, 1, 30), NEW_YORK) == at("2013-11-03T01:30-04:00")


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../etc/passwd", "America", "New York"])
def test_an_unknown_zone_is_named(name: str) -> None:
    with pytest.raises(UnknownZoneError, match="unknown time zone"):
        truncate(datetime(2026, 1, 1, tzinfo=ZoneInfo("UTC")), "day", name)
