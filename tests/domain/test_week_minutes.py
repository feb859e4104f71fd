"""Minutes of the week: no instant at which a window is open or a cron fires is missing in its set."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import product

import pytest

from tidegate.domain.model import Calendar, CronTrigger, WindowConstraint
from tidegate.domain.time.fire_times import fires
from tidegate.domain.time.wall_clock import wall_time
from tidegate.domain.time.week_minutes import (
    DAY,
    EVERY_MINUTE,
    WEEK,
    fire_minutes,
    later,
    offsets,
    spread,
    starts,
    window_minutes,
)
from tidegate.scheduler.decision.constraints.window import is_open

BERLIN = "Europe/Berlin"
WORK = Calendar(name="work", country="DE", open=(date(2026, 4, 11),))
YEAR = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))


def minute_of(instant: datetime, zone: str) -> int:
    wall = wall_time(instant, zone)
    return wall.weekday() * DAY + wall.hour * 60 + wall.minute


@pytest.mark.parametrize(
    "cron",
    [
        CronTrigger(cron="30 2 * * *", timezone=BERLIN),
        CronTrigger(cron="30 2 * * sun", timezone=BERLIN),
        CronTrigger(cron="*/20 1-3 * * *", timezone="America/New_York"),
        CronTrigger(cron="15 0 * * *", timezone="America/Havana"),
        CronTrigger(cron="5 * * * sat", timezone="Australia/Lord_Howe"),
        CronTrigger(cron="0 6 1 * mon", timezone=BERLIN),
        CronTrigger(cron="0 6 * * *", timezone=BERLIN, calendar=WORK),
        CronTrigger(cron="0 6 * * *", timezone=BERLIN, calendar=WORK, nth_business_day=-1),
        CronTrigger(cron="59 23 31 12 *"),
    ],
    ids=lambda cron: cron.one_line(),
)
def test_every_fire_of_a_year_is_in_the_set(cron: CronTrigger) -> None:
    found = fire_minutes(cron)
    fired = {minute_of(fire, cron.timezone) for fire in fires(cron, *YEAR)}
    assert fired
    assert all(found >> minute & 1 for minute in fired)


@pytest.mark.parametrize(
    ("cron", "count"),
    [
        ("0 6 * * *", 7),
        ("0 6 * * mon", 1),
        ("0 6 1 * mon", 7),
        ("*/30 6-7 * * 0,6", 8),
        # The hour from 2 to 3 is skipped on a Sunday, so the fire at 02:30 moves to 03:00 there.
        ("30 2 * * *", 8),
        ("30 2 * * mon", 1),
        ("30 * * * *", 7 * 24),
    ],
)
def test_a_set_has_no_more_minutes_than_can_fire(cron: str, count: int) -> None:
    assert fire_minutes(CronTrigger(cron=cron, timezone=BERLIN)).bit_count() == count


@pytest.mark.parametrize(("begin", "end"), [("08:00", "17:00"), ("22:00", "06:00"), ("00:00", "23:59")])
@pytest.mark.parametrize("days", [(), ("sun",), ("fri", "sat")])
@pytest.mark.parametrize("calendar", [None, WORK])
def test_a_window_is_open_only_at_minutes_of_its_set(
    begin: str, end: str, days: tuple[str, ...], calendar: Calendar | None
) -> None:
    window = WindowConstraint(
        from_=time.fromisoformat(begin),
        to=time.fromisoformat(end),
        days=days,  # pyright: ignore[reportArgumentType] - each one of the enum
        timezone=BERLIN,
        calendar=calendar,
    )
    found, instant = window_minutes(window), datetime(2026, 3, 23, tzinfo=UTC)
    # Three weeks with a clock change, two holidays and a Saturday that is open.
    while instant < datetime(2026, 4, 13, tzinfo=UTC):
        if is_open(window, instant):
            assert found >> minute_of(instant, BERLIN) & 1, instant
        elif calendar is None:
            assert not found >> minute_of(instant, BERLIN) & 1, instant
        instant += timedelta(minutes=29)


def test_sets_move_and_spread_around_the_end_of_the_week() -> None:
    last = 1 << (WEEK - 1)
    assert later(last, 1) == 1
    assert later(1, -1) == last
    assert spread(last, 2) == last | 1 | 2
    assert spread(1, 0) == 1
    assert spread(0, 2 * WEEK) == 0
    assert spread(1, WEEK) == EVERY_MINUTE
    for minutes, by in product((1, 0b1001), (1, 5, 59, WEEK - 1)):
        assert spread(minutes, by) == spread(spread(minutes, by // 2), by - by // 2)


def test_the_spans_of_a_set_have_gaps_before_them() -> None:
    assert list(starts(0b1100_1110)) == [(1, WEEK - 7), (6, 2)]
    assert list(starts(EVERY_MINUTE)) == list(starts(0)) == []


def test_the_offsets_of_a_zone_are_those_of_its_years() -> None:
    assert offsets("UTC") == (0,)
    assert offsets(BERLIN) == (60, 120)
    assert offsets("Australia/Lord_Howe") == (630, 660)
