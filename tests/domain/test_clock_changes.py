"""Cron and calendars around the changes of the clocks in twenty zones, against a scan of every minute."""

import random
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest

from tests.domain.zones import YEAR, ZONES, changes_in, random_pattern
from tests.effort import much
from tidegate.domain.model import Calendar, CronTrigger
from tidegate.domain.time.calendar import is_business_day
from tidegate.domain.time.clock_change import clock_changes
from tidegate.domain.time.cron import parse
from tidegate.domain.time.fire_times import fires, previous_fire

MINUTE, TICK = timedelta(minutes=1), timedelta(microseconds=1)
BEFORE, AFTER = timedelta(hours=30), timedelta(hours=30)
CALENDARS = (None, None, Calendar(name="plain"), Calendar(name="gulf", weekend=("fri", "sat")))


# --- the changes themselves -------------------------------------------------------------


@pytest.mark.parametrize("zone", ZONES)
def test_every_change_is_found_and_nothing_else(zone: str) -> None:
    # given the offsets of every quarter of an hour of a year
    info, begin = ZoneInfo(zone), datetime(YEAR, 1, 1, tzinfo=UTC)
    quarters = [begin + n * 15 * MINUTE for n in range(366 * 96)]
    offsets = [instant.astimezone(info).utcoffset() for instant in quarters]
    # then the changes are where the offset becomes another
    expected = [at for at, old, new in zip(quarters[1:], offsets, offsets[1:], strict=False) if old != new]
    found = changes_in(zone, YEAR)
    assert [change.at for change in found] == [at for at in expected if at.year == YEAR]
    for change in found:
        before = (change.at - TICK).astimezone(info).replace(tzinfo=None)
        assert change.shown_before == before + TICK
        assert change.shown_after == change.at.astimezone(info).replace(tzinfo=None)
        assert change.forward == (change.shown_after > change.shown_before)


BERLIN = datetime(2026, 3, 29, 1, tzinfo=UTC)

SPANS = [
    ("from before until at it", BERLIN - TICK, BERLIN, 1),
    ("from at it", BERLIN, BERLIN + MINUTE, 0),
    ("until just before it", BERLIN - MINUTE, BERLIN - TICK, 0),
    ("over several years", BERLIN - TICK, BERLIN.replace(year=2029), 7),
    ("backwards", BERLIN, BERLIN - MINUTE, 0),
    ("the first year of time", datetime(1, 1, 1, tzinfo=UTC), datetime(1, 2, 1, tzinfo=UTC), 0),
    ("the last one", datetime(9999, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC), 0),
]


@pytest.mark.parametrize(("sentence", "after", "until", "count"), SPANS, ids=[row[0] for row in SPANS])
def test_changes_are_those_after_the_beginning_until_the_end(
    sentence: str, after: datetime, until: datetime, count: int
) -> None:
    assert len(list(clock_changes("Europe/Berlin", after, until))) == count


def test_a_change_at_the_turn_of_a_year_is_found_once() -> None:
    # The Philippines skipped the last day of 1844, Samoa the last but one of 2011.
    found = list(
        clock_changes("Asia/Manila", datetime(1844, 12, 1, tzinfo=UTC), datetime(1845, 2, 1, tzinfo=UTC))
    )
    assert len(found) == 1
    (samoa,) = changes_in("Pacific/Apia", 2011)[-1:]
    assert samoa.changed == (datetime(2011, 12, 30), datetime(2011, 12, 31))


def test_a_naive_instant_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        list(clock_changes("UTC", datetime(2026, 1, 1), BERLIN))


# --- fires around them ------------------------------------------------------------------


class RealMinute(NamedTuple):
    """One minute of real time, what clocks show then, and how far they have just jumped."""

    at: datetime
    wall: datetime
    comes_again: bool
    skipped: timedelta


def real_minutes(begin: datetime, end: datetime, zone: str) -> list[RealMinute]:
    info = ZoneInfo(zone)
    found: list[RealMinute] = []
    before = (begin - MINUTE).astimezone(info).replace(tzinfo=None, fold=0)
    while begin <= end:
        here = begin.astimezone(info)
        wall = here.replace(tzinfo=None, fold=0)
        comes_again = here.utcoffset() != here.replace(fold=1).utcoffset()
        found.append(RealMinute(begin, wall, comes_again, wall - before))
        before, begin = wall, begin + MINUTE
    return found


def scanned(trigger: CronTrigger, minutes: list[RealMinute]) -> list[datetime]:
    """The rule of ADR 8 read out literally, minute by minute of real time; slow and plain."""
    cron = parse(trigger.cron)
    days: dict[date, bool] = {}

    def day_matches(day: date) -> bool:
        if day not in days:
            counts = trigger.calendar is None or is_business_day(trigger.calendar, day)
            days[day] = counts and cron.matches(day)
        return days[day]

    def matches(wall: datetime) -> bool:
        return wall.minute in cron.minutes and wall.hour in cron.hours and day_matches(wall.date())

    def fires_at(minute: RealMinute) -> bool:
        if matches(minute.wall) and not (minute.comes_again and cron.hours_kind == "fixed"):
            return True
        in_gap = range(1, minute.skipped // MINUTE)
        return cron.hours_kind != "every" and any(matches(minute.wall - n * MINUTE) for n in in_gap)

    return [minute.at for minute in minutes if fires_at(minute)]


def assert_equal_to_a_scan(zone: str, around: datetime, patterns: int) -> None:
    chance = random.Random(f"{zone} {around}")
    minutes = real_minutes(around - BEFORE, around + AFTER, zone)
    begin, end = minutes[0].at, minutes[-1].at
    for _ in range(patterns):
        trigger = CronTrigger(cron=random_pattern(chance), timezone=zone, calendar=chance.choice(CALENDARS))
        expected = scanned(trigger, minutes)
        assert list(fires(trigger, begin - TICK, end)) == expected, trigger
        backwards: list[datetime] = []
        at = previous_fire(trigger, end)
        while at is not None and at >= begin:
            backwards.append(at)
            at = previous_fire(trigger, at - TICK)
        assert backwards[::-1] == expected, f"{trigger}, backwards"


ODD = [
    ("Europe/Berlin", "2026-03-29T01:00"),
    ("Europe/Berlin", "2026-10-25T01:00"),
    ("America/Sao_Paulo", "2018-11-04T03:00"),
    ("America/Sao_Paulo", "2018-02-18T02:00"),
    ("America/St_Johns", "2011-11-06T02:31"),
    ("Pacific/Apia", "2011-12-30T10:00"),
]


@pytest.mark.parametrize(("zone", "around"), ODD)
def test_fires_equal_a_scan_of_every_minute(zone: str, around: str) -> None:
    assert_equal_to_a_scan(zone, datetime.fromisoformat(around).replace(tzinfo=UTC), patterns=8)


# Eighty scans of sixty hours, with several patterns each, are millions of minutes.
@pytest.mark.endurance
@pytest.mark.parametrize("zone", ZONES)
def test_fires_equal_a_scan_of_every_minute_around_all_changes_of_twenty_zones(zone: str) -> None:
    # given the changes of a year, or an ordinary day where there are none; in a soak of two years
    for year in (YEAR, YEAR + 1)[: much(1)]:
        for change in changes_in(zone, year) or [None]:
            around = change.at if change else datetime(year, 3, 8, tzinfo=UTC)
            # then the fires around each equal those of the scan
            assert_equal_to_a_scan(zone, around, patterns=much(3))
