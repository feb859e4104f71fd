"""Partition keys: Dagster's spelling, which keys exist, and which of them make up a period."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

import msgspec
import pytest

from tidegate.domain.model import Cycle, PartitionScheme, StaticDimension, TimeDimension
from tidegate.domain.partition_key import (
    MAX_KEYS,
    PartitionKeyError,
    enclosing_key,
    expected_keys,
    first_key,
    format_time_key,
    join_key,
    latest_keys,
    parse_time_key,
    same_partitions,
    split_key,
    start_of,
    validate_key,
)
from tidegate.domain.time.cycle import DAYS_OF_WEEK

NEW_YORK = "America/New_York"
ORIGIN = StaticDimension(name="origin", keys=("EWR", "JFK", "LGA"))


def time(cycle: Cycle, start: str = "2013-01-01", zone: str = NEW_YORK) -> TimeDimension:
    return TimeDimension(name=cycle, cycle=cycle, start=start, timezone=zone)


def by(cycle: Cycle, start: str = "2013-01-01", zone: str = NEW_YORK) -> PartitionScheme:
    return PartitionScheme(time=time(cycle, start, zone))


DAY_AND_ORIGIN = PartitionScheme(time=time("day"), static=ORIGIN)


# --- the spelling of periods ------------------------------------------------------------


@pytest.mark.parametrize(
    ("cycle", "key", "start", "end"),
    [
        ("minute", "2026-03-09-05:07", "2026-03-09T05:07-04:00", "2026-03-09T05:08-04:00"),
        ("hour", "2026-03-09-05:00", "2026-03-09T05:00-04:00", "2026-03-09T06:00-04:00"),
        ("hour", "2013-11-03-01:00", "2013-11-03T01:00-04:00", "2013-11-03T01:00-05:00"),
        ("hour", "2013-11-03-01:00-0500", "2013-11-03T01:00-05:00", "2013-11-03T02:00-05:00"),
        ("minute", "2013-11-03-01:59-0500", "2013-11-03T01:59-05:00", "2013-11-03T02:00-05:00"),
        ("day", "2013-11-03", "2013-11-03T00:00-04:00", "2013-11-04T00:00-05:00"),
        ("week", "2026-03-08", "2026-03-08T00:00-05:00", "2026-03-15T00:00-04:00"),
        ("month", "2026-03-01", "2026-03-01T00:00-05:00", "2026-04-01T00:00-04:00"),
        ("year", "2026-01-01", "2026-01-01T00:00-05:00", "2027-01-01T00:00-05:00"),
    ],
)
def test_a_key_means_a_period_and_the_period_has_that_key(
    cycle: Cycle, key: str, start: str, end: str
) -> None:
    period = parse_time_key(key, time(cycle))
    assert period.start == datetime.fromisoformat(start).astimezone(UTC)
    assert period.end == datetime.fromisoformat(end).astimezone(UTC)
    assert format_time_key(period.start, time(cycle)) == key


@pytest.mark.parametrize(
    ("cycle", "key", "wrong"),
    [
        ("day", "", "not the key of a day"),
        ("day", "2026-3-9", "not the key of a day"),
        ("day", "2026-03-09-05:00", "not the key of a day"),
        ("day", " 2026-03-09", "not the key of a day"),
        ("day", "2026-02-30", "not a date"),
        ("day", "0000-01-01", "not a date"),
        ("day", "2012-12-31", "before the first day"),
        ("day", "9" * 5000, "not the key of a day"),
        ("day", "\u0662\u0660\u0662\u0666-03-09", "not the key of a day"),
        ("hour", "2026-03-09", "the key of an hour; write it as YYYY-MM-DD-HH:MM"),
        ("hour", "2026-03-09-05:30", 'write "2026-03-09-05:00"'),
        ("hour", "2026-03-09-24:00", "not a date"),
        ("hour", "2013-03-10-02:00", "clocks in America/New_York skip that time"),
        ("hour", "2013-11-03-01:00-0400", 'write "2013-11-03-01:00"'),
        ("hour", "2013-11-04-01:00-0500", 'write "2013-11-04-01:00"'),
        ("week", "2026-03-09", 'write "2026-03-08"'),
        ("month", "2026-03-09", 'write "2026-03-01"'),
        ("year", "2026-03-01", 'write "2026-01-01"'),
    ],
)
def test_a_key_that_does_not_exist_is_refused_with_the_reason(cycle: Cycle, key: str, wrong: str) -> None:
    assert wrong in (validate_key(by(cycle), key) or "")
    with pytest.raises(PartitionKeyError):
        parse_time_key(key, time(cycle))


def test_the_first_period_is_the_first_that_begins_at_or_after_the_start() -> None:
    # 1 January 2013 was a Tuesday; Dagster's first week is that of the Sunday after it, too.
    assert format_time_key(start_of(time("week")), time("week")) == "2013-01-06"
    assert format_time_key(start_of(time("month", "2013-01-15")), time("month")) == "2013-02-01"
    assert format_time_key(start_of(time("hour", "2013-01-01-05:00")), time("hour")) == "2013-01-01-05:00"
    with pytest.raises(PartitionKeyError, match="is not a date"):
        start_of(time("day", "yesterday"))


# --- keys of two dimensions -------------------------------------------------------------


def test_the_latest_keys_begin_with_the_current_period_and_end_with_the_first() -> None:
    noon = datetime(2014, 1, 1, 12, tzinfo=UTC)
    days = PartitionScheme(time=time("day"))
    assert latest_keys(days, noon, 2) == ("2014-01-01", "2013-12-31")
    assert latest_keys(days, noon, 10_000)[-1] == first_key(days)
    assert latest_keys(days, datetime(1999, 1, 1, tzinfo=UTC), 5) == ()
    both = latest_keys(DAY_AND_ORIGIN, noon, 3)
    assert len(both) == 3
    assert [validate_key(DAY_AND_ORIGIN, key) for key in both] == [None] * 3
    assert latest_keys(PartitionScheme(static=ORIGIN), noon, 1) == ORIGIN.keys[:1]


def test_two_dimensions_join_in_the_order_of_their_names() -> None:
    assert join_key(DAY_AND_ORIGIN, {"origin": "JFK", "day": "2013-12-22"}) == "2013-12-22|JFK"
    assert split_key(DAY_AND_ORIGIN, "2013-12-22|JFK") == {"day": "2013-12-22", "origin": "JFK"}
    airport = PartitionScheme(time=time("day"), static=StaticDimension(name="airport", keys=("JFK",)))
    assert join_key(airport, {"day": "2013-12-22", "airport": "JFK"}) == "JFK|2013-12-22"
    assert enclosing_key(airport, "JFK|2013-12-22", "month") == "2013-12-01"


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("2013-12-22|JFK", None),
        ("2013-12-22", '"day|origin"'),
        ("2013-12-22|JFK|x", "3 parts"),
        ("JFK|2013-12-22", "not the key of a day"),
        ("2013-12-22|ORD", "its keys are EWR, JFK, LGA"),
        ("2013-12-22|", 'not a key of "origin"'),
    ],
)
def test_both_parts_of_a_key_are_checked(key: str, wrong: str | None) -> None:
    said = validate_key(DAY_AND_ORIGIN, key)
    assert said is None if wrong is None else wrong in (said or "")


def test_a_key_needs_each_dimension_once() -> None:
    with pytest.raises(PartitionKeyError, match="needs day and origin, got day"):
        join_key(DAY_AND_ORIGIN, {"day": "2013-12-22"})


# --- coarser periods --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "key", "cycle", "expected"),
    [
        (by("hour"), "2026-03-09-05:00", "day", "2026-03-09"),
        (by("hour"), "2013-11-03-01:00-0500", "day", "2013-11-03"),
        (by("minute"), "2013-11-03-01:30-0500", "hour", "2013-11-03-01:00-0500"),
        (by("day"), "2026-03-09", "day", "2026-03-09"),
        (by("day"), "2026-03-09", "week", "2026-03-08"),
        (by("day"), "2026-03-09", "year", "2026-01-01"),
        (by("week"), "2026-03-29", "month", "2026-03-01"),
        (DAY_AND_ORIGIN, "2013-12-22|JFK", "day", "2013-12-22"),
    ],
)
def test_a_key_belongs_to_the_coarser_period_in_which_it_begins(
    scheme: PartitionScheme, key: str, cycle: Cycle, expected: str
) -> None:
    assert enclosing_key(scheme, key, cycle) == expected
    assert key in expected_keys(scheme, cycle, expected)


@pytest.mark.parametrize(
    ("scheme", "cycle", "enclosing", "count"),
    [
        (by("hour"), "day", "2013-03-10", 23),
        (by("hour"), "day", "2013-11-03", 25),
        (by("hour"), "day", "2013-11-04", 24),
        # In Antarctica/Troll clocks change by two hours.
        (by("hour", "2026-01-01-00:00", "Antarctica/Troll"), "day", "2026-03-29", 22),
        (by("hour", "2026-01-01-00:00", "Antarctica/Troll"), "day", "2026-10-25", 26),
        (by("minute"), "hour", "2013-11-03-01:00-0500", 60),
        (by("day"), "week", "2013-03-10", 7),
        (by("day"), "month", "2016-02-01", 29),
        (by("week"), "month", "2013-03-01", 5),
        (by("day"), "year", "2016-01-01", 366),
        (DAY_AND_ORIGIN, "day", "2013-12-22", 3),
        (DAY_AND_ORIGIN, "week", "2013-12-22", 21),
        # Days before the start never come, so no job waits for them.
        (by("day", "2013-01-30"), "month", "2013-01-01", 2),
    ],
)
def test_a_period_expects_all_its_parts(
    scheme: PartitionScheme, cycle: Cycle, enclosing: str, count: int
) -> None:
    keys = expected_keys(scheme, cycle, enclosing)
    assert len(keys) == len(set(keys)) == count
    assert all(validate_key(scheme, key) is None for key in keys)
    assert {enclosing_key(scheme, key, cycle) for key in keys} == {enclosing}


@pytest.mark.parametrize(
    ("scheme", "cycle", "enclosing", "wrong"),
    [
        (by("day"), "hour", "2026-03-09-05:00", "a day is longer than an hour"),
        (by("day"), "month", "2026-03-09", "begins at"),
        (by("day"), "month", "2012-12-01", "has no day"),
        (by("minute"), "year", "2014-01-01", f"{MAX_KEYS:,}"),
        (PartitionScheme(static=ORIGIN), "day", "2026-03-09", "no time"),
    ],
)
def test_what_has_no_parts_or_too_many_is_refused(
    scheme: PartitionScheme, cycle: Cycle, enclosing: str, wrong: str
) -> None:
    with pytest.raises(PartitionKeyError, match=wrong):
        expected_keys(scheme, cycle, enclosing)


# --- Dagster ----------------------------------------------------------------------------


def consecutive(keys: Sequence[str], dimension: TimeDimension) -> bool:
    """Whether each key is spelled as ours, and its period begins where the one before it ends."""
    periods = [parse_time_key(key, dimension) for key in keys]
    spelled = [format_time_key(period.start, dimension) for period in periods]
    return spelled == list(keys) and all(one.end == next.start for one, next in pairwise(periods))


@pytest.mark.dagster
@pytest.mark.parametrize(
    ("zone", "start", "end"),
    [
        (NEW_YORK, "2013-03-09-00:00", "2013-03-12-00:00"),
        (NEW_YORK, "2013-11-02-00:00", "2013-11-05-00:00"),
        ("Europe/Berlin", "2026-10-24-00:00", "2026-10-27-00:00"),
        ("America/Havana", "2026-10-31-00:00", "2026-11-02-00:00"),
        ("Africa/Cairo", "2026-04-23-00:00", "2026-04-25-00:00"),
        ("Asia/Kolkata", "2026-04-23-00:00", "2026-04-25-00:00"),
        ("Asia/Kathmandu", "2026-04-23-00:00", "2026-04-25-00:00"),
        ("America/St_Johns", "2026-03-07-00:00", "2026-03-09-00:00"),
        ("Australia/Adelaide", "2026-04-04-00:00", "2026-04-06-00:00"),
    ],
)
def test_hour_keys_are_dagsters_when_clocks_change(zone: str, start: str, end: str) -> None:
    from dagster import HourlyPartitionsDefinition

    theirs = HourlyPartitionsDefinition(start_date=start, end_date=end, timezone=zone)
    keys = theirs.get_partition_keys()
    assert consecutive(keys, time("hour", start, zone))
    for key in keys:
        window, period = (
            theirs.time_window_for_partition_key(key),
            parse_time_key(key, time("hour", start, zone)),
        )
        assert (window.start.timestamp(), window.end.timestamp()) == (
            period.start.timestamp(),
            period.end.timestamp(),
        )


@pytest.mark.dagster
def test_day_week_and_month_keys_are_dagsters() -> None:
    import dagster

    for cycle, theirs in (
        ("day", dagster.DailyPartitionsDefinition("2013-01-01", "2014-02-01", timezone=NEW_YORK)),
        ("week", dagster.WeeklyPartitionsDefinition("2013-01-01", timezone=NEW_YORK, end_date="2014-02-01")),
        (
            "month",
            dagster.MonthlyPartitionsDefinition("2013-01-01", timezone=NEW_YORK, end_date="2014-02-01"),
        ),
    ):
        keys = theirs.get_partition_keys()
        assert consecutive(keys, time(cycle))


@pytest.mark.dagster
def test_the_weeks_that_begin_on_another_day_are_dagsters_with_a_day_offset() -> None:
    import dagster

    for offset, day in enumerate(DAYS_OF_WEEK):
        theirs = dagster.WeeklyPartitionsDefinition(
            "2013-01-01", timezone=NEW_YORK, end_date="2014-02-01", day_offset=offset
        )
        weeks = msgspec.structs.replace(time("week"), week_starts=day)
        keys = theirs.get_partition_keys()
        assert consecutive(keys, weeks)
        assert format_time_key(start_of(weeks), weeks) == keys[0]


def test_a_day_belongs_to_the_week_of_its_scheme_or_of_another() -> None:
    days = PartitionScheme(time=msgspec.structs.replace(time("day"), week_starts="mon"))
    assert enclosing_key(days, "2026-03-08", "week") == "2026-03-02"
    assert enclosing_key(days, "2026-03-08", "week", "sun") == "2026-03-08"
    assert expected_keys(days, "week", "2026-03-02")[-1] == "2026-03-08"
    assert same_partitions(days, by("day"))
    weeks = PartitionScheme(time=msgspec.structs.replace(time("week"), week_starts="mon"))
    assert not same_partitions(weeks, by("week"))


@pytest.mark.dagster
def test_keys_of_two_dimensions_are_dagsters() -> None:
    from dagster import MultiPartitionKey

    parts = {"origin": "JFK", "day": "2013-12-22"}
    assert str(MultiPartitionKey(parts)) == join_key(DAY_AND_ORIGIN, parts)


@pytest.mark.parametrize(
    ("scheme", "key"),
    [
        (by("day", "2013-12-22"), "2013-12-22"),
        (by("week", "2013-01-02"), "2013-01-06"),
        (PartitionScheme(static=ORIGIN), "EWR"),
        (DAY_AND_ORIGIN, "2013-01-01|EWR"),
    ],
)
def test_the_first_key_of_a_scheme_is_one_of_its_keys(scheme: PartitionScheme, key: str) -> None:
    assert first_key(scheme) == key
    assert validate_key(scheme, key) is None
