"""The window: when it is open and when it opens next, on days, business days and changes of the clocks."""

from datetime import UTC, date, datetime, time, timedelta

import msgspec
import pytest

from tests.worlds.job_view_of import job_view_of
from tidegate.domain.model import Calendar, Day, WindowConstraint
from tidegate.domain.time.calendar import DAY_NAMES
from tidegate.scheduler.decision.constraints.window import (
    CALENDAR_DAYS_AHEAD,
    DAYS_AHEAD,
    check,
    is_open,
    opening,
)

MINUTE = timedelta(minutes=1)


def window(opens: str, closes: str, zone: str = "UTC", *days: Day) -> WindowConstraint:
    return WindowConstraint(
        from_=time.fromisoformat(opens), to=time.fromisoformat(closes), days=days, timezone=zone
    )


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


TABLE = [
    ("before it opens", window("09:00", "17:00"), "2026-03-10T08:59:59+00:00", False),
    ("at its opening", window("09:00", "17:00"), "2026-03-10T09:00:00+00:00", True),
    ("just before its end", window("09:00", "17:00"), "2026-03-10T16:59:59+00:00", True),
    ("its end is outside", window("09:00", "17:00"), "2026-03-10T17:00:00+00:00", False),
    ("over midnight, the evening", window("22:00", "06:00"), "2026-03-10T23:00:00+00:00", True),
    ("over midnight, the morning", window("22:00", "06:00"), "2026-03-10T05:59:00+00:00", True),
    ("over midnight, the day", window("22:00", "06:00"), "2026-03-10T12:00:00+00:00", False),
    ("until midnight", window("22:00", "00:00"), "2026-03-10T23:59:59+00:00", True),
    ("until midnight, midnight is outside", window("22:00", "00:00"), "2026-03-11T00:00:00+00:00", False),
    ("from midnight", window("00:00", "06:00"), "2026-03-11T00:00:00+00:00", True),
    (
        "in its zone, not in UTC",
        window("22:00", "06:00", "America/New_York"),
        "2026-03-10T23:00:00+00:00",
        False,
    ),
    ("on its day", window("09:00", "17:00", "UTC", "tue"), "2026-03-10T10:00:00+00:00", True),
    ("on another day", window("09:00", "17:00", "UTC", "wed"), "2026-03-10T10:00:00+00:00", False),
    (
        "days name the day of the opening",
        window("22:00", "06:00", "UTC", "mon"),
        "2026-03-10T05:00:00+00:00",
        True,
    ),
    ("not the day of the end", window("22:00", "06:00", "UTC", "tue"), "2026-03-10T05:00:00+00:00", False),
    (
        "the local day counts",
        window("20:00", "23:00", "America/New_York", "mon"),
        "2026-03-10T01:00:00+00:00",
        True,
    ),
    (
        "01:30 before the clocks go back",
        window("01:15", "01:45", "America/New_York"),
        "2026-11-01T05:30:00+00:00",
        True,
    ),
    (
        "01:30 after the clocks went back",
        window("01:15", "01:45", "America/New_York"),
        "2026-11-01T06:30:00+00:00",
        True,
    ),
]


@pytest.mark.parametrize(("sentence", "given", "instant", "expected"), TABLE, ids=[row[0] for row in TABLE])
def test_open(sentence, given, instant, expected):
    assert is_open(given, utc(instant)) is expected


OPENINGS = [
    ("later today", window("22:00", "06:00"), "2026-03-10T12:00:00+00:00", "2026-03-10T22:00:00+00:00"),
    ("tomorrow", window("09:00", "17:00"), "2026-03-10T17:00:00+00:00", "2026-03-11T09:00:00+00:00"),
    (
        "next week",
        window("09:00", "17:00", "UTC", "tue"),
        "2026-03-10T17:00:00+00:00",
        "2026-03-17T09:00:00+00:00",
    ),
    (
        "in its zone",
        window("22:00", "06:00", "America/New_York"),
        "2026-03-10T16:00:00+00:00",
        "2026-03-11T02:00:00+00:00",
    ),
    (
        "an opening in the gap opens after it",
        window("02:30", "05:00", "America/New_York"),
        "2026-03-08T06:00:00+00:00",
        "2026-03-08T07:00:00+00:00",
    ),
    (
        "a window within the gap opens the day after",
        window("02:15", "02:45", "America/New_York"),
        "2026-03-08T06:00:00+00:00",
        "2026-03-09T06:15:00+00:00",
    ),
    (
        "a doubled window opens twice",
        window("01:15", "01:45", "America/New_York"),
        "2026-11-01T05:45:00+00:00",
        "2026-11-01T06:15:00+00:00",
    ),
    (
        "clocks put back into last evening's window open it again",
        window("22:00", "01:30", "America/New_York"),
        "2026-11-01T05:45:00+00:00",
        "2026-11-01T06:00:00+00:00",
    ),
    (
        "today's opening comes before last evening's window is opened again",
        window("01:30", "01:15", "America/New_York"),
        "2026-11-01T05:20:00+00:00",
        "2026-11-01T05:30:00+00:00",
    ),
    (
        "clocks put back into a window open it again",
        window("00:30", "01:30", "America/New_York"),
        "2026-11-01T05:45:00+00:00",
        "2026-11-01T06:00:00+00:00",
    ),
]


@pytest.mark.parametrize(("sentence", "given", "instant", "expected"), OPENINGS, ids=[r[0] for r in OPENINGS])
def test_next_opening(sentence, given, instant, expected):
    assert opening(given, utc(instant)) == utc(expected)


def test_a_window_that_clocks_swallow_for_a_week_is_looked_at_again():
    # given a window within the gap of the one Sunday of its week on which it opens
    given = window("02:15", "02:45", "America/New_York", "sun")
    # when it is asked just after the Sunday before
    after = utc("2026-03-01T08:00:00+00:00")
    # then the horizon is the next look, and from there the right Sunday is found
    again = opening(given, after)
    assert again == after + timedelta(days=DAYS_AHEAD)
    assert opening(given, again) == utc("2026-03-15T06:15:00+00:00")


# --- business days ----------------------------------------------------------------------

US = Calendar(name="us", country="US")


def on_business_days(opens: str, closes: str, *days: Day, calendar: Calendar = US) -> WindowConstraint:
    return msgspec.structs.replace(window(opens, closes, "America/New_York", *days), calendar=calendar)


BUSINESS = [
    ("on a business day", on_business_days("09:00", "17:00"), "2026-03-10T10:00:00-04:00", True),
    ("on a weekend", on_business_days("09:00", "17:00"), "2026-03-07T10:00:00-05:00", False),
    ("on a holiday", on_business_days("09:00", "17:00"), "2026-11-26T10:00:00-05:00", False),
    ("the day of the opening counts", on_business_days("22:00", "06:00"), "2026-03-07T05:00:00-05:00", True),
    ("not the day of the end", on_business_days("22:00", "06:00"), "2026-03-09T05:00:00-04:00", False),
    ("both days and calendar", on_business_days("09:00", "17:00", "thu"), "2026-11-26T10:00:00-05:00", False),
]


@pytest.mark.parametrize(("sentence", "given", "instant", "expected"), BUSINESS, ids=[r[0] for r in BUSINESS])
def test_open_on_business_days(sentence, given, instant, expected):
    assert is_open(given, utc(instant)) is expected


BUSINESS_OPENINGS = [
    (
        "after a long weekend",
        on_business_days("09:00", "17:00"),
        "2026-07-02T17:00:00-04:00",
        "2026-07-06T09:00:00-04:00",
    ),
    (
        "the one Friday of Thanksgiving",
        on_business_days("09:00", "17:00", "thu"),
        "2026-11-20T00:00:00-05:00",
        "2026-12-03T09:00:00-05:00",
    ),
    (
        "months ahead",
        on_business_days(
            "09:00",
            "17:00",
            calendar=Calendar(name="c", weekend=DAY_NAMES, open=(date(2026, 12, 30),)),
        ),
        "2026-03-10T12:00:00-04:00",
        "2026-12-30T09:00:00-05:00",
    ),
]


@pytest.mark.parametrize(
    ("sentence", "given", "instant", "expected"), BUSINESS_OPENINGS, ids=[r[0] for r in BUSINESS_OPENINGS]
)
def test_next_opening_on_business_days(sentence, given, instant, expected):
    assert opening(given, utc(instant)) == utc(expected)


def test_a_verdict_names_the_calendar():
    verdict = check(on_business_days("09:00", "17:00"), job_view_of(), utc("2026-11-26T10:00:00-05:00"))
    assert verdict.summary == (
        "09:00-17:00 America/New_York on business days of us opens at 2026-11-27T09:00:00-05:00"
    )


def test_a_window_that_no_business_day_opens_is_looked_at_again_after_a_year():
    given = on_business_days("09:00", "17:00", "sat")
    after = utc("2026-03-10T12:00:00-04:00")
    assert opening(given, after) == after + timedelta(days=CALENDAR_DAYS_AHEAD)
