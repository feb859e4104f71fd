"""The crons that become Dagster schedules fire there when they fire here, in every zone, on every date."""

import random
from datetime import UTC, datetime, timedelta
from itertools import takewhile

import pytest

from tests.domain.zones import ZONES, random_pattern
from tests.effort import pick
from tidegate.dagster_defs.definitions.shown_schedules import agrees, native_cron, pattern_for_dagster
from tidegate.dagster_defs.internals.cron import schedule_execution_time_iterator
from tidegate.domain.model import AnyTrigger, Calendar, CronTrigger, Schedule, Trigger
from tidegate.domain.time.clock_change import clock_changes
from tidegate.domain.time.cron import parse
from tidegate.scheduler.model.deployed import ScheduleState

pytestmark = pytest.mark.dagster

NOW = datetime(2026, 1, 15, tzinfo=UTC)
YEAR = timedelta(days=366)
TICK = timedelta(microseconds=1)
PATTERNS_PER_ZONE = 30


def state(trigger: Trigger) -> ScheduleState:
    spec = Schedule(name="s", program="p", trigger=trigger)
    return ScheduleState(ref="a/s", spec=spec, fingerprint="f", status="active", deployed_at=NOW)


def theirs(pattern: str, zone: str, begin: datetime, end: datetime) -> list[float]:
    found = schedule_execution_time_iterator(begin.timestamp(), pattern_for_dagster(pattern), zone)
    return list(takewhile(lambda fire: fire <= end.timestamp(), (fire.timestamp() for fire in found)))


def ours(pattern: str, zone: str, begin: datetime, end: datetime) -> list[float]:
    return [fire.timestamp() for fire in parse(pattern).fires(begin - TICK, end, zone)]


@pytest.mark.parametrize("zone", pick(ZONES, 3))
def test_what_becomes_a_dagster_schedule_fires_there_as_here(zone: str) -> None:
    chance = random.Random(zone)
    changes = [change.at for change in clock_changes(zone, NOW, NOW + YEAR)]
    native = 0
    for _ in range(PATTERNS_PER_ZONE):
        pattern = random_pattern(chance)
        if not agrees(pattern, zone, NOW):
            continue
        native += 1
        for around in (*changes, NOW + chance.random() * YEAR):
            begin = around - timedelta(hours=chance.choice((1, 5, 30)))
            end = around + timedelta(hours=chance.choice((4, 30)))
            # Dagster's hourly patterns at many minutes are slow; some hours of them are enough.
            end = min(end, begin + timedelta(hours=6)) if pattern.startswith("*") else end
            assert theirs(pattern, zone, begin, end) == ours(pattern, zone, begin, end), (pattern, begin)
    assert native > PATTERNS_PER_ZONE // 2, "most patterns are left alone by the clocks"


SHOWN = [
    ("at a fixed time", "0 6 * * *", "Europe/Berlin", True),
    ("at a fixed time of the changed hour", "30 2 * * *", "Europe/Berlin", True),
    ("in every hour", "*/15 * * * *", "Europe/Berlin", True),
    ("in hours that the clocks leave alone", "*/15 8-18 * * 1-5", "Europe/Berlin", True),
    ("in hours of which Dagster skips one", "0 0-6 * * *", "Europe/Berlin", False),
    ("in those hours where the clocks do not change", "0 0-6 * * *", "Asia/Kolkata", True),
    ("in those hours on days that are not touched", "0 0-6 * * 1-5", "Europe/Berlin", True),
    ("at a midnight that comes twice", "30 0 * * *", "America/Havana", False),
    ("in a change of two hours", "30 2 * * *", "Antarctica/Troll", False),
]


@pytest.mark.parametrize(("sentence", "pattern", "zone", "expected"), SHOWN, ids=[row[0] for row in SHOWN])
def test_which_crons_dagster_shows(sentence: str, pattern: str, zone: str, expected: bool) -> None:
    cron = CronTrigger(cron=pattern, timezone=zone)
    assert native_cron(state(cron), NOW) == (cron if expected else None)


def test_a_cron_with_a_calendar_is_the_dispatchers_alone() -> None:
    calendar = Calendar(name="work", country="US")
    assert native_cron(state(CronTrigger(cron="0 6 * * *", calendar=calendar)), NOW) is None
    nth = CronTrigger(cron="0 6 * * *", calendar=calendar, nth_business_day=1)
    assert native_cron(state(nth), NOW) is None


def test_a_cron_among_others_is_the_dispatchers_alone() -> None:
    cron = CronTrigger(cron="0 6 * * *")
    assert native_cron(state(AnyTrigger(of=(cron, cron))), NOW) is None


def test_a_range_of_one_number_is_spelled_out_for_dagster() -> None:
    assert pattern_for_dagster("0 0 4-4 * fri-fri") == "0 0 4 * 5"
    assert pattern_for_dagster("*/15 8-18 * * MON-fri") == "*/15 8-18 * * MON-fri"
    begin = datetime(2026, 3, 1, tzinfo=UTC)
    for pattern in (
        "0 0 4-4 * *",
        "0 5-5/2 * * *",
        "7-7 * * * sun-sun",
        "0 0 14-4 * *".replace("14-4", "4-14"),
    ):
        end = begin + timedelta(days=30)
        assert theirs(pattern, "UTC", begin, end) == ours(pattern, "UTC", begin, end), pattern
