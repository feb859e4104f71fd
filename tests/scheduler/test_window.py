"""The window against a naive scan: minute by minute, in several zones, over both changes of the clocks."""

import random
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from compiler.calendar import DAY_NAMES
from compiler.model import Day, WindowConstraint
from scheduler.constraints.window import DAYS_AHEAD, is_open, opening

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
        "clocks put back into a window open it again",
        window("00:30", "01:30", "America/New_York"),
        "2026-11-01T05:45:00+00:00",
        "2026-11-01T06:00:00+00:00",
    ),
]


@pytest.mark.parametrize(("sentence", "given", "instant", "expected"), OPENINGS, ids=[r[0] for r in OPENINGS])
def test_next_opening(sentence, given, instant, expected):
    assert opening(given, utc(instant)) == utc(expected)


def naive_open(given: WindowConstraint, instant: datetime) -> bool:
    """The rule once more, written by minutes of the day."""
    local = instant.astimezone(ZoneInfo(given.timezone))
    minute = local.hour * 60 + local.minute
    opens = given.from_.hour * 60 + given.from_.minute
    length = (given.to.hour * 60 + given.to.minute - opens) % 1440
    past = (minute - opens) % 1440
    if past >= length:
        return False
    opened = local.date() if minute >= opens else local.date() - timedelta(days=1)
    return not given.days or DAY_NAMES[opened.weekday()] in given.days


CHANGES = [
    ("America/New_York", "2026-03-08"),
    ("America/New_York", "2026-11-01"),
    ("Europe/Berlin", "2026-03-29"),
    ("Europe/Berlin", "2026-10-25"),
    ("Australia/Lord_Howe", "2026-04-05"),
    ("Australia/Lord_Howe", "2026-10-04"),
    ("Asia/Beirut", "2026-03-29"),
    ("Asia/Beirut", "2026-10-25"),
    ("America/Havana", "2026-03-08"),
    ("Africa/Casablanca", "2026-03-22"),
    ("Asia/Kolkata", "2026-03-08"),
    ("Pacific/Apia", "2011-12-30"),
]


@pytest.mark.parametrize(("zone", "day"), CHANGES)
def test_openings_equal_a_scan_minute_by_minute(zone, day):
    dice = random.Random(f"{zone}{day}")
    start = datetime.fromisoformat(day).replace(tzinfo=UTC) - timedelta(days=1)
    scan = [start + n * MINUTE for n in range(3 * 1440)]
    for _ in range(12):
        opens, closes = dice.sample(range(0, 1440, 15), 2)
        days = tuple(dice.sample(DAY_NAMES, dice.choice((0, 0, 1, 4))))
        given = WindowConstraint(
            from_=time(opens // 60, opens % 60), to=time(closes // 60, closes % 60), days=days, timezone=zone
        )
        naive = [naive_open(given, instant) for instant in scan]
        assert [is_open(given, instant) for instant in scan] == naive
        first_of = None
        for number in range(len(scan) - 1, -1, -1):
            if naive[number]:
                first_of = scan[number]
            elif first_of is not None and number % 17 == 0:
                assert opening(given, scan[number]) == first_of, (given, scan[number])


def test_a_window_that_clocks_swallow_for_a_week_is_looked_at_again():
    # given a window within the gap of the one Sunday of its week on which it opens
    given = window("02:15", "02:45", "America/New_York", "sun")
    # when it is asked just after the Sunday before
    after = utc("2026-03-01T08:00:00+00:00")
    # then the horizon is the next look, and from there the right Sunday is found
    again = opening(given, after)
    assert again == after + timedelta(days=DAYS_AHEAD)
    assert opening(given, again) == utc("2026-03-15T06:15:00+00:00")
