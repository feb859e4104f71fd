"""Fires of cron triggers with calendars: on which days, how far the search goes, and back again."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.domain.model import Calendar, CronTrigger
from tidegate.domain.time.calendar import is_business_day, nth_business_day
from tidegate.domain.time.cron import MAX_YEARS_APART, parse
from tidegate.domain.time.fire_times import day_of, fires, fires_on, next_fire, previous_fire

US = Calendar(name="us", country="US")
OWN = Calendar(name="own", weekend=(), closed=(date(2026, 3, 10), date(2026, 3, 11)))
TICK = timedelta(microseconds=1)


def cron(
    pattern: str, calendar: Calendar | None = None, nth: int | None = None, zone: str = "UTC"
) -> CronTrigger:
    return CronTrigger(cron=pattern, timezone=zone, calendar=calendar, nth_business_day=nth)


def instant(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


FOLLOWING = [
    ("without a calendar, every day", cron("0 6 * * *"), "2026-03-06T06:00", "2026-03-07T06:00"),
    ("over a weekend", cron("0 6 * * *", US), "2026-03-06T06:00", "2026-03-09T06:00"),
    ("over a holiday and a weekend", cron("0 6 * * *", US), "2026-07-02T06:00", "2026-07-06T06:00"),
    ("within a business day", cron("0 6,18 * * *", US), "2026-03-06T06:00", "2026-03-06T18:00"),
    ("over own closed days", cron("0 6 * * *", OWN), "2026-03-09T06:00", "2026-03-12T06:00"),
    ("both the pattern's and the calendar's", cron("0 6 * * 1", US), "2026-09-01T00:00", "2026-09-14T06:00"),
    ("the first business day", cron("0 6 * * *", US, 1), "2026-12-05T00:00", "2027-01-04T06:00"),
    ("the last one", cron("0 6 * * *", US, -1), "2026-01-30T06:00", "2026-02-27T06:00"),
    ("a number that few months have", cron("0 6 * * *", US, 23), "2026-01-01T00:00", "2027-03-31T06:00"),
    ("only in months of the pattern", cron("0 6 * 6 *", US, 3), "2026-01-01T00:00", "2026-06-03T06:00"),
    ("a leap day on a business day", cron("0 6 29 2 *", US), "2028-03-01T00:00", "2036-02-29T06:00"),
]


@pytest.mark.parametrize(
    ("sentence", "trigger", "after", "expected"), FOLLOWING, ids=[r[0] for r in FOLLOWING]
)
def test_the_next_fire(sentence: str, trigger: CronTrigger, after: str, expected: str) -> None:
    assert next_fire(trigger, instant(after)) == instant(expected)


DAYS = [
    ("its own day", cron("0 6 * * *"), "2026-03-10T06:00", "2026-03-10"),
    ("the day of its zone", cron("0 2 * * *", zone="Asia/Tokyo"), "2026-03-09T17:00", "2026-03-10"),
    ("moved past midnight", cron("30 23 * * *", zone="America/Nuuk"), "2026-03-29T01:00", "2026-03-28"),
    ("the time that exists", cron("0,30 0,23 * * *", zone="America/Nuuk"), "2026-03-29T01:00", "2026-03-29"),
    ("moved within the day", cron("30 2 * * *", zone="America/New_York"), "2026-03-08T07:00", "2026-03-08"),
    ("a whole day is skipped", cron("0 6 * * *", zone="Pacific/Apia"), "2011-12-30T10:00", "2011-12-30"),
    ("a midnight that repeats", cron("30 23 * * *", zone="America/Nuuk"), "2026-10-25T01:30", "2026-10-24"),
    ("with a calendar", cron("30 23 * * *", OWN, zone="America/Nuuk"), "2026-03-29T01:00", "2026-03-28"),
]


@pytest.mark.parametrize(("sentence", "trigger", "fire", "expected"), DAYS, ids=[row[0] for row in DAYS])
def test_the_day_of_a_fire(sentence: str, trigger: CronTrigger, fire: str, expected: str) -> None:
    assert next_fire(trigger, instant(fire) - TICK) == instant(fire)
    assert day_of(trigger, instant(fire)).isoformat() == expected


def test_what_is_before_every_fire_has_no_day() -> None:
    with pytest.raises(OverflowError):
        day_of(cron("0 6 29 2 *"), datetime(1, 1, 1, tzinfo=UTC))


def test_business_days_are_days_of_the_crons_zone() -> None:
    # given Friday evening in New York, which is Saturday in UTC
    trigger = cron("30 20 * * *", US, zone="America/New_York")
    # then it fires, and next on Monday evening, which is Tuesday in UTC
    assert list(fires(trigger, instant("2026-03-06T12:00"), instant("2026-03-10T12:00"))) == [
        instant("2026-03-07T01:30"),
        instant("2026-03-10T00:30"),
    ]


def test_a_fire_belongs_to_the_day_of_its_pattern_where_the_clocks_move_it() -> None:
    # given a zone that skipped Friday the 30th, and a calendar that is closed on Saturday
    trigger = cron("0 12 * * *", Calendar(name="c"), zone="Pacific/Apia")
    found = list(fires(trigger, instant("2011-12-29T13:00", "Pacific/Apia"), instant("2012-01-02T12:00")))
    # then Friday's fire comes with the first instant of Saturday, and Saturday has none of its own
    shown = [f"{fire.astimezone(ZoneInfo('Pacific/Apia')):%a %H:%M}" for fire in found]
    assert shown == ["Sat 00:00", "Mon 12:00"]


NEVER = [
    ("a holiday of every year", cron("0 6 1 1 *", US)),
    ("a weekend of every week", cron("0 6 * * 6", US)),
    ("a number that no month has", cron("0 6 * * *", US, 27)),
    (
        "a calendar of one day, long ago",
        cron(
            "0 6 * * *",
            Calendar(
                name="c", weekend=("mon", "tue", "wed", "thu", "fri", "sat", "sun"), open=(date(2001, 1, 1),)
            ),
        ),
    ),
]


@pytest.mark.parametrize(("sentence", "trigger"), NEVER, ids=[row[0] for row in NEVER])
def test_what_never_fires_says_so(sentence: str, trigger: CronTrigger) -> None:
    now = instant("2026-03-09T00:00")
    assert next_fire(trigger, now) is None
    assert list(fires(trigger, now, now + timedelta(days=366 * 50))) == []
    assert previous_fire(trigger, now) is None


def test_the_end_of_the_calendar_is_no_fire() -> None:
    assert next_fire(cron("0 0 1 1 *"), instant("9999-06-01T00:00")) is None
    assert previous_fire(cron("0 0 1 7 *"), instant("0001-06-01T00:00")) is None


ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Havana",
    "Pacific/Chatham",
)
CALENDARS = (None, US, OWN, Calendar(name="gulf", weekend=("fri", "sat"), open=(date(2026, 10, 24),)))


@st.composite
def triggers(draw: st.DrawFn) -> CronTrigger:
    fields = (
        draw(st.sampled_from(("0", "30", "*/20", "7,37", "5-55/25"))),
        draw(st.sampled_from(("*", "*/3", "0", "2", "1,2,3", "0-5", "23"))),
        draw(st.sampled_from(("*", "*", "1", "25-31", "*/2"))),
        draw(st.sampled_from(("*", "*", "3,10,11", "2"))),
        draw(st.sampled_from(("*", "*", "0", "1-5", "sat"))),
    )
    calendar = draw(st.sampled_from(CALENDARS))
    nth = draw(st.sampled_from((None, None, 1, 5, -1, -3))) if calendar else None
    return cron(" ".join(fields), calendar, nth, draw(st.sampled_from(ZONES)))


MOMENTS = st.one_of(
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC)),
    # Around the changes of the clocks.
    st.builds(
        lambda day, minutes: instant(day) + timedelta(minutes=minutes),
        st.sampled_from(("2026-03-08", "2026-03-29", "2026-10-25", "2026-11-01", "2026-04-05", "2026-10-04")),
        st.integers(-1500, 1500),
    ),
)


@settings(max_examples=60, deadline=None)
@given(trigger=triggers(), moment=MOMENTS)
def test_next_and_previous_are_inverse(trigger: CronTrigger, moment: datetime) -> None:
    following = next_fire(trigger, moment)
    if following is None:
        return
    assert following > moment
    assert previous_fire(trigger, following) == following, "a fire is the last one at itself"
    assert next_fire(trigger, following - TICK) == following, "and the next one just before itself"
    before = previous_fire(trigger, following - TICK)
    assert before is None or before <= moment, "nothing lies between"
    assert before is None or next_fire(trigger, before) == following


@settings(max_examples=60, deadline=None)
@given(trigger=triggers(), moment=MOMENTS, hours=st.integers(0, 90))
def test_fires_are_those_that_next_finds_one_by_one(
    trigger: CronTrigger, moment: datetime, hours: int
) -> None:
    until = moment + timedelta(hours=hours)
    middle = moment + timedelta(hours=hours / 2)
    found = list(fires(trigger, moment, until))
    assert found == sorted(set(found))
    assert all(moment < fire <= until for fire in found)
    assert found == [*fires(trigger, moment, middle), *fires(trigger, middle, until)], (
        "cutting changes nothing"
    )
    backwards: list[datetime] = []
    at = previous_fire(trigger, until)
    while at is not None and at > moment:
        backwards.append(at)
        at = previous_fire(trigger, at - TICK)
    assert backwards[::-1] == found


@settings(max_examples=60, deadline=None)
@given(trigger=triggers(), moment=MOMENTS)
def test_a_calendar_only_takes_days_away(trigger: CronTrigger, moment: datetime) -> None:
    until = moment + timedelta(days=12)
    pattern = parse(trigger.cron)
    every = list(pattern.fires(moment, until, trigger.timezone))
    found = list(fires(trigger, moment, until))
    assert set(found) <= set(every)
    if trigger.calendar is None:
        assert found == every
        return
    for fire in every:
        day = fire.astimezone(ZoneInfo(trigger.timezone)).date()
        counts = is_business_day(trigger.calendar, day)
        if trigger.nth_business_day is not None:
            counts = day == nth_business_day(trigger.calendar, day.year, day.month, trigger.nth_business_day)
        assert (fire in found) == counts == fires_on(trigger, day), f"{fire} of {trigger}"


def test_the_horizon_is_as_far_as_the_pattern_may_be_apart() -> None:
    only = Calendar(
        name="c", weekend=("mon", "tue", "wed", "thu", "fri", "sat", "sun"), open=(date(2026, 5, 4),)
    )
    trigger = cron("0 6 * * *", only)
    assert next_fire(trigger, instant(f"{2026 - MAX_YEARS_APART}-01-01T00:00")) == instant("2026-05-04T06:00")
    assert next_fire(trigger, instant(f"{2025 - MAX_YEARS_APART}-01-01T00:00")) is None
