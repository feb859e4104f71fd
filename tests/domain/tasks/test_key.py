"""The keys of a task: scheduled times and business dates as text, and back."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.domain.zones import ZONES
from tidegate.domain.model import Cycle, TaskTrigger
from tidegate.domain.tasks.key import (
    TaskKeyError,
    business_date,
    parse_date,
    parse_scheduled,
    scheduled_key,
    scheduled_of,
    unit_of,
)
from tidegate.domain.time.natural_time import begin_of

APIA = "Pacific/Apia"
BERLIN = "Europe/Berlin"
LORD_HOWE = "Australia/Lord_Howe"
NEW_YORK = "America/New_York"


def task(cycle: Cycle, zone: str = NEW_YORK) -> TaskTrigger:
    return TaskTrigger(cycle=cycle, timezone=zone)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


KEYS: list[tuple[str, Cycle, str, str, str]] = [
    ("a day", "day", NEW_YORK, "2026-03-10", "2026-03-10T00:00-04:00"),
    ("a week has a key for each day", "week", NEW_YORK, "2026-03-10", "2026-03-10T00:00-04:00"),
    ("so has a month", "month", NEW_YORK, "2026-03-10", "2026-03-10T00:00-04:00"),
    ("so has a year", "year", NEW_YORK, "2024-02-29", "2024-02-29T00:00-05:00"),
    ("a day without midnight", "day", "America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00-02:00"),
    ("a day with two midnights", "day", "America/Havana", "2026-11-01", "2026-11-01T00:00-04:00"),
    ("an hour", "hour", NEW_YORK, "2026-03-10-10:00", "2026-03-10T10:00-04:00"),
    ("midnight", "hour", NEW_YORK, "2026-03-10-00:00", "2026-03-10T00:00-04:00"),
    ("the first pass of an hour", "hour", NEW_YORK, "2026-11-01-01:00", "2026-11-01T01:00-04:00"),
    ("the second pass of an hour", "hour", NEW_YORK, "2026-11-01-01:00-0500", "2026-11-01T01:00-05:00"),
    ("in Berlin", "hour", BERLIN, "2026-10-25-02:00+0100", "2026-10-25T02:00+01:00"),
    ("two hours are doubled", "hour", "Antarctica/Troll", "2026-10-25-01:00+0000", "2026-10-25T01:00+00:00"),
    ("an hour of 90 minutes", "hour", LORD_HOWE, "2026-04-05-01:00", "2026-04-05T01:00+11:00"),
    ("a minute", "minute", NEW_YORK, "2026-03-10-10:17", "2026-03-10T10:17-04:00"),
    ("a doubled minute", "minute", LORD_HOWE, "2026-04-05-01:45+1030", "2026-04-05T01:45+10:30"),
]


@pytest.mark.parametrize(("sentence", "cycle", "zone", "key", "instant"), KEYS, ids=[row[0] for row in KEYS])
def test_a_scheduled_time_has_a_key_that_leads_back(
    sentence: str, cycle: Cycle, zone: str, key: str, instant: str
) -> None:
    assert scheduled_key(task(cycle, zone), at(instant)) == key
    assert parse_scheduled(task(cycle, zone), key) == at(instant)


@pytest.mark.parametrize(
    ("cycle", "zone", "key", "truncated"),
    [
        ("hour", NEW_YORK, "2026-03-10-10:17", "2026-03-10-10:00"),
        ("hour", NEW_YORK, "2026-11-01-01:17-0500", "2026-11-01-01:00-0500"),
        ("hour", LORD_HOWE, "2026-04-05-01:45+1030", "2026-04-05-01:00"),
        # 02:00 is in the gap, so 02:45 is in the hour of 01:00.
        ("hour", LORD_HOWE, "2026-10-04-02:45", "2026-10-04-01:00"),
        ("day", NEW_YORK, "2026-03-10-10:17", "2026-03-10"),
        ("day", NEW_YORK, "2026-03-10-00:00", "2026-03-10"),
        ("month", NEW_YORK, "2026-11-01-01:00-0500", "2026-11-01"),
        ("minute", NEW_YORK, "2026-03-10-10:17", "2026-03-10-10:17"),
    ],
)
def test_a_key_of_a_finer_time_is_truncated(cycle: Cycle, zone: str, key: str, truncated: str) -> None:
    found = parse_scheduled(task(cycle, zone), key)
    assert scheduled_key(task(cycle, zone), found) == truncated


WRONG: list[tuple[Cycle, str, str, str]] = [
    ("hour", NEW_YORK, "2026-03-10", 'not a time of an hour task; write it as "2026-03-10-00:00"'),
    ("minute", NEW_YORK, "2026-03-10", 'not a time of a minute task; write it as "2026-03-10-00:00"'),
    ("hour", NEW_YORK, "", "not a time of an hour task"),
    ("hour", NEW_YORK, "2026-03-10T10:00", "not a time of an hour task"),
    ("hour", NEW_YORK, "2026-03-10-10:00:00", "not a time of an hour task"),
    ("hour", NEW_YORK, "2026-3-10-10:00", "not a time of an hour task"),
    ("hour", NEW_YORK, " 2026-03-10-10:00", "not a time of an hour task"),
    ("hour", NEW_YORK, "2026-03-10-10:00\n", "not a time of an hour task"),
    ("hour", NEW_YORK, "9" * 5000, "not a time of an hour task"),
    ("day", NEW_YORK, "24.12.2026", 'not a date; write it as "2026-12-24"'),
    ("day", NEW_YORK, "yesterday", 'not a date; write it as "2026-03-10"'),
    ("day", NEW_YORK, "\u0662\u0660\u0662\u0666-03-09", "not a date"),
    ("day", NEW_YORK, "2026-02-30", 'not a date and time of the calendar; write "2026-02-28"'),
    ("day", NEW_YORK, "2026-02-29", "not a date and time of the calendar"),
    ("day", NEW_YORK, "0000-01-01", "not a date and time of the calendar"),
    ("hour", NEW_YORK, "2026-02-30-10:00", "not a date and time of the calendar"),
    ("hour", NEW_YORK, "2026-03-10-24:00", "not a date and time of the calendar"),
    ("hour", NEW_YORK, "2026-03-10-10:60", "not a date and time of the calendar"),
    ("day", NEW_YORK, "0001-01-01", "write a year from 0002 to 9998"),
    ("day", "Pacific/Auckland", "9999-12-31", "write a year from 0002 to 9998"),
    ("minute", NEW_YORK, "9999-12-31-23:59", "write a year from 0002 to 9998"),
    ("hour", NEW_YORK, "2026-03-08-02:00", 'skip that time; the next hour is "2026-03-08-03:00"'),
    ("hour", LORD_HOWE, "2026-10-04-02:15", 'the next hour is "2026-10-04-03:00"'),
    ("minute", LORD_HOWE, "2026-10-04-02:15", 'the next minute is "2026-10-04-02:30"'),
    ("day", NEW_YORK, "2026-03-08-02:30", "clocks in America/New_York skip that time"),
    ("hour", APIA, "2011-12-30-12:00", 'the next hour is "2011-12-31-00:00"'),
    ("hour", NEW_YORK, "2026-11-01-01:00-0400", 'write "2026-11-01-01:00"'),
    ("hour", NEW_YORK, "2026-11-02-01:00-0500", 'write "2026-11-02-01:00"'),
]


@pytest.mark.parametrize(("cycle", "zone", "key", "message"), WRONG)
def test_a_malformed_or_impossible_time_is_refused(cycle: Cycle, zone: str, key: str, message: str) -> None:
    for parse in (parse_scheduled, scheduled_of):
        with pytest.raises(TaskKeyError) as refused:
            parse(task(cycle, zone), key)
        assert message in str(refused.value)
        assert "write" in str(refused.value) or "the next" in str(refused.value)
        assert len(str(refused.value)) < 200


BUSINESS: list[tuple[str, Cycle, str, str, str]] = [
    ("the date before", "day", NEW_YORK, "2026-03-10", "2026-03-09"),
    ("before 1 March", "day", NEW_YORK, "2026-03-01", "2026-02-28"),
    ("before 1 March of a leap year", "day", NEW_YORK, "2024-03-01", "2024-02-29"),
    ("before New Year", "day", NEW_YORK, "2026-01-01", "2025-12-31"),
    ("one unit of a weekly task is a day", "week", NEW_YORK, "2026-03-09", "2026-03-08"),
    ("of a monthly one, too", "month", NEW_YORK, "2026-05-01", "2026-04-30"),
    ("of a yearly one, too", "year", NEW_YORK, "2026-07-01", "2026-06-30"),
    ("after a day of 23 hours", "day", NEW_YORK, "2026-03-09", "2026-03-08"),
    ("after a day of 25 hours", "day", NEW_YORK, "2026-11-02", "2026-11-01"),
    ("a date that clocks skip", "day", APIA, "2011-12-31", "2011-12-30"),
    ("six-hourly at 06:00", "hour", NEW_YORK, "2026-03-10-06:00", "2026-03-10-05:00"),
    ("over midnight", "hour", NEW_YORK, "2026-03-10-00:00", "2026-03-09-23:00"),
    ("over a leap day", "hour", NEW_YORK, "2024-03-01-00:00", "2024-02-29-23:00"),
    ("over a gap", "hour", NEW_YORK, "2026-03-08-03:00", "2026-03-08-01:00"),
    ("over a gap in Berlin", "hour", BERLIN, "2026-03-29-03:00", "2026-03-29-01:00"),
    ("the hour after it in Berlin", "hour", BERLIN, "2026-03-29-04:00", "2026-03-29-03:00"),
    ("the first pass in Berlin", "hour", BERLIN, "2026-10-25-02:00", "2026-10-25-01:00"),
    ("the second pass in Berlin", "hour", BERLIN, "2026-10-25-02:00+0100", "2026-10-25-02:00"),
    ("after the second pass in Berlin", "hour", BERLIN, "2026-10-25-03:00", "2026-10-25-02:00+0100"),
    ("the day of 23 hours in Berlin", "day", BERLIN, "2026-03-30", "2026-03-29"),
    ("the day of 25 hours in Berlin", "day", BERLIN, "2026-10-26", "2026-10-25"),
    ("the second pass after the first", "hour", NEW_YORK, "2026-11-01-01:00-0500", "2026-11-01-01:00"),
    ("after the second pass", "hour", NEW_YORK, "2026-11-01-02:00", "2026-11-01-01:00-0500"),
    ("the first pass", "hour", NEW_YORK, "2026-11-01-01:00", "2026-11-01-00:00"),
    ("after 90 minutes, back", "hour", LORD_HOWE, "2026-04-05-02:00", "2026-04-05-01:00"),
    ("after 90 minutes, forward", "hour", LORD_HOWE, "2026-10-04-03:00", "2026-10-04-01:00"),
    ("after 30 minutes", "hour", "America/Caracas", "2016-05-01-03:00", "2016-05-01-02:00"),
    ("a midnight that does not exist", "hour", "America/Sao_Paulo", "2018-11-04-01:00", "2018-11-03-23:00"),
    ("a minute", "minute", NEW_YORK, "2026-03-10-10:17", "2026-03-10-10:16"),
    ("a minute over midnight", "minute", NEW_YORK, "2026-03-10-00:00", "2026-03-09-23:59"),
    ("a minute over a gap", "minute", NEW_YORK, "2026-03-08-03:00", "2026-03-08-01:59"),
    ("a minute over half an hour", "minute", LORD_HOWE, "2026-10-04-02:30", "2026-10-04-01:59"),
    ("a minute between passes", "minute", NEW_YORK, "2026-11-01-01:00-0500", "2026-11-01-01:59"),
    ("a minute over a gap in Berlin", "minute", BERLIN, "2026-03-29-03:00", "2026-03-29-01:59"),
    ("a minute after it in Berlin", "minute", BERLIN, "2026-03-29-03:01", "2026-03-29-03:00"),
    ("a minute of the first pass in Berlin", "minute", BERLIN, "2026-10-25-02:30", "2026-10-25-02:29"),
    ("a minute between passes in Berlin", "minute", BERLIN, "2026-10-25-02:00+0100", "2026-10-25-02:59"),
    ("of the second pass in Berlin", "minute", BERLIN, "2026-10-25-02:30+0100", "2026-10-25-02:29+0100"),
    ("after both passes in Berlin", "minute", BERLIN, "2026-10-25-03:00", "2026-10-25-02:59+0100"),
]


@pytest.mark.parametrize(
    ("sentence", "cycle", "zone", "key", "business"), BUSINESS, ids=[row[0] for row in BUSINESS]
)
def test_a_business_date_is_one_unit_before(
    sentence: str, cycle: Cycle, zone: str, key: str, business: str
) -> None:
    scheduled = parse_scheduled(task(cycle, zone), key)
    assert business_date(task(cycle, zone), scheduled) == business
    assert scheduled_of(task(cycle, zone), business) == scheduled


def test_a_business_date_of_a_finer_time_is_truncated() -> None:
    assert scheduled_of(task("hour"), "2026-03-10-10:17") == at("2026-03-10T11:00-04:00")
    assert scheduled_of(task("day"), "2026-03-10-10:17") == at("2026-03-11T00:00-04:00")


def test_a_day_that_clocks_skip_is_a_business_date_and_not_a_scheduled_time() -> None:
    skipped = 'clocks in Pacific/Apia skip that day; the next day is "2011-12-31"'
    assert scheduled_of(task("day", APIA), "2011-12-30") == at("2011-12-31T00:00+14:00")
    with pytest.raises(TaskKeyError, match=skipped):
        parse_scheduled(task("day", APIA), "2011-12-30")
    with pytest.raises(TaskKeyError, match=skipped):
        scheduled_of(task("day", APIA), "2011-12-29")


@pytest.mark.parametrize("key", ["2026-03-10-10:00", "2026-02-30", "March", ""])
def test_a_date_has_no_time(key: str) -> None:
    assert parse_date("2024-02-29") == date(2024, 2, 29)
    with pytest.raises(TaskKeyError, match="not a date"):
        parse_date(key)


@settings(max_examples=200, deadline=None)
@given(
    zone=st.sampled_from(ZONES),
    cycle=st.sampled_from(["minute", "hour", "day"]),
    instant=st.datetimes(datetime(1980, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
)
def test_any_scheduled_time_leads_back_from_its_key_and_its_business_date(
    zone: str, cycle: Cycle, instant: datetime
) -> None:
    given_task = task(cycle, zone)
    scheduled = begin_of(instant, unit_of(given_task), zone)
    assert parse_scheduled(given_task, scheduled_key(given_task, scheduled)) == scheduled
    business = business_date(given_task, scheduled)
    assert scheduled_of(given_task, business) == scheduled
    if cycle != "day":
        assert scheduled - parse_scheduled(given_task, business) <= timedelta(minutes=90)


@settings(max_examples=100, deadline=None)
@given(
    text=st.text(alphabet="0123456789-:+ aZ", max_size=22), cycle=st.sampled_from(["minute", "hour", "day"])
)
def test_any_other_text_is_refused_as_a_key(text: str, cycle: Cycle) -> None:
    try:
        found = parse_scheduled(task(cycle), text)
    except TaskKeyError:
        return
    assert found.tzinfo is UTC
