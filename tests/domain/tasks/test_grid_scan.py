"""The grid of a task against a scan of every minute around the clock changes of many zones."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from tests.domain.zones import YEAR, ZONES, changes_in
from tests.effort import some
from tidegate.domain.model import Cycle, TaskTimes, TaskTrigger
from tidegate.domain.tasks.grid import business_slots, natural_container, slot_at, slots_of_day
from tidegate.domain.tasks.key import business_date, parse_scheduled, scheduled_key, scheduled_of

pytestmark = pytest.mark.slow  # every minute of days in many zones

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)

HISTORIC = [
    ("America/Sao_Paulo", date(2018, 11, 4)),  # without a midnight
    ("America/St_Johns", date(2006, 10, 29)),  # from 00:01 back to 23:01, so that midnight is doubled
    ("Asia/Kathmandu", date(1986, 1, 1)),  # from 00:00 to 00:15: the day begins within a natural hour
    ("Asia/Pyongyang", date(2015, 8, 15)),  # half an hour back at midnight
    ("Asia/Pyongyang", date(2018, 5, 5)),  # half an hour forward to midnight
    ("America/Caracas", date(2016, 5, 1)),  # half an hour forward to 03:00
    ("Pacific/Apia", date(2011, 12, 30)),  # a day that does not exist
]
ALWAYS = ("America/New_York", "Antarctica/Troll", "Australia/Lord_Howe", "Europe/Berlin")
OTHERS = [zone for zone in ZONES if zone not in ALWAYS]


def changed_days(zones: Iterable[str]) -> list[tuple[str, date]]:
    return [(zone, change.at.date()) for zone in zones for change in changes_in(zone, YEAR)]


CASES = HISTORIC + changed_days(ALWAYS) + some(changed_days(OTHERS), 10)
CHANGES = [pytest.param(zone, day, id=f"{zone} {day}") for zone, day in CASES]

HOURS_AND_MINUTES: list[tuple[Cycle, TaskTimes]] = [
    ("minute", TaskTimes()),
    ("minute", TaskTimes(every=7, from_=65, to=23 * 60 + 14)),
    ("hour", TaskTimes()),
    ("hour", TaskTimes(minute=10)),
    ("hour", TaskTimes(minute=50)),
    ("hour", TaskTimes(every=2, minute=30)),
    ("hour", TaskTimes(every=5, minute=45, from_=60, to=22 * 60)),
]
START_TIMES = (0, 15, 45, 90, 135, 150, 180, 23 * 60 + 45)

Minutes = tuple[tuple[datetime, datetime, datetime], ...]
"""Each minute, its wall time, and the start of its natural hour."""


@cache
def minutes_around(zone: str, day: date) -> Minutes:
    """The minutes of eight days around a date."""
    minute = datetime(day.year, day.month, day.day, tzinfo=UTC) - 4 * DAY
    hour: datetime | None = None
    found: list[tuple[datetime, datetime, datetime]] = []
    for _ in range(8 * DAY // MINUTE):
        wall = minute.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)
        hour = minute if wall.minute == 0 else hour
        if hour is not None:
            found.append((minute, wall, hour))
        minute += MINUTE
    return tuple(found)


def is_configured(cycle: Cycle, times: TaskTimes, wall: datetime) -> bool:
    """Whether an instance starts at a wall time."""
    first = times.from_ or 0
    last = 1439 if times.to is None else times.to
    if cycle == "minute":
        return wall.minute % times.every == 0 and first <= wall.hour * 60 + wall.minute <= last
    steps, rest = divmod(wall.hour - first // 60, times.every)
    return wall.minute == times.minute and steps >= 0 and rest == 0 and wall.hour <= last // 60


def scanned(cycle: Cycle, times: TaskTimes, minutes: Minutes) -> dict[date, list[tuple[datetime, datetime]]]:
    """The scheduled times and the start times by the local days of the scheduled times."""
    shown = {minute: wall for minute, wall, _ in minutes}
    starts = {
        (hour if cycle == "hour" else minute): minute
        for minute, wall, hour in minutes
        if is_configured(cycle, times, wall)
    }
    found: dict[date, list[tuple[datetime, datetime]]] = defaultdict(list)
    for scheduled, start in sorted(starts.items()):
        found[shown[scheduled].date()].append((scheduled, start))
    return found


def scanned_start(minutes: Minutes, wall: datetime) -> datetime:
    """The last minute that shows a wall time; if none does, the first after the gap."""
    showing = [minute for minute, shown, _ in minutes if shown == wall]
    if showing:
        return showing[-1]
    return next(
        minute for (_, before, _), (minute, after, _) in pairwise(minutes) if before < wall and after > wall
    )


@pytest.mark.parametrize(("zone", "changed"), CHANGES)
def test_instances_of_hours_and_minutes_equal_a_scan(zone: str, changed: date) -> None:
    minutes = minutes_around(zone, changed)
    for cycle, times in HOURS_AND_MINUTES:
        task = TaskTrigger(cycle=cycle, times=times, timezone=zone)
        expected = scanned(cycle, times, minutes)
        for day in (changed + n * DAY for n in (-2, -1, 0, 1, 2)):
            slots = slots_of_day(task, day)
            assert [(slot.scheduled, slot.start) for slot in slots] == expected[day]
            assert not any(slot.empty for slot in slots)


@pytest.mark.parametrize(("zone", "changed"), CHANGES)
def test_the_instance_of_a_day_equals_a_scan(zone: str, changed: date) -> None:
    minutes = minutes_around(zone, changed)
    for day in (changed + n * DAY for n in (-1, 0, 1)):
        begins = [minute for minute, wall, _ in minutes if wall.date() == day][:1]
        for at in START_TIMES:
            task = TaskTrigger(cycle="day", times=TaskTimes(time=at), timezone=zone)
            starts = [scanned_start(minutes, datetime.combine(day, time(at // 60, at % 60))) for _ in begins]
            slots = slots_of_day(task, day)
            assert [slot.scheduled for slot in slots] == begins
            assert [slot.start for slot in slots] == starts


@pytest.mark.parametrize(("zone", "changed"), CHANGES)
def test_natural_hours_follow_one_another(zone: str, changed: date) -> None:
    minutes = minutes_around(zone, changed)
    hours = sorted({hour for _, _, hour in minutes})[:-1]
    for before, hour, after in zip(hours, hours[1:], hours[2:], strict=False):
        for instant in (hour, hour + 29 * MINUTE, after - timedelta(microseconds=1)):
            here = natural_container(zone, instant, "hour")
            earlier = natural_container(zone, instant, "hour", previous=True)
            assert (here.start, here.end) == (hour, after)
            assert (earlier.start, earlier.end) == (before, hour)


@pytest.mark.parametrize("cycle", ["minute", "hour", "day"])
@pytest.mark.parametrize(("zone", "changed"), CHANGES)
def test_keys_and_business_dates_are_unique_and_lead_back(zone: str, changed: date, cycle: Cycle) -> None:
    # given the instances around a change; of the minutes some
    task = TaskTrigger(cycle=cycle, timezone=zone)
    days = [changed + n * DAY for n in (-1, 0, 1, 2)]
    slots = [slot for day in days for slot in slots_of_day(task, day)]
    slots = slots[:: 19 if cycle == "minute" else 1]
    # then each has a key and a business date of its own
    keys = [scheduled_key(task, slot.scheduled) for slot in slots]
    business = [business_date(task, slot.scheduled) for slot in slots]
    assert len(set(keys)) == len(set(business)) == len(slots)
    # and both lead back to it
    for slot, key, date_key in zip(slots, keys, business, strict=True):
        assert parse_scheduled(task, key) == slot.scheduled
        assert scheduled_of(task, date_key) == slot.scheduled
        assert slot_at(task, slot.scheduled) == slot
        assert slot_at(task, slot.scheduled + timedelta(seconds=59)) == slot


@pytest.mark.parametrize(("zone", "changed"), CHANGES)
def test_a_backfill_of_one_day_has_its_hours_and_minutes(zone: str, changed: date) -> None:
    # given the natural hours and the minutes of a local day
    minutes = minutes_around(zone, changed)
    in_day = [(minute, hour) for minute, wall, hour in minutes if wall.date() == changed]
    # then each of them is a business date once
    for cycle, expected in (
        ("minute", [minute for minute, _ in in_day]),
        ("hour", sorted({hour for minute, hour in in_day if minute == hour})),
    ):
        task = TaskTrigger(cycle=cycle, timezone=zone)
        found = business_slots(task, changed.isoformat(), changed.isoformat())
        assert [key for key, _ in found] == [scheduled_key(task, instant) for instant in expected]
        assert [slot.scheduled for _, slot in found] == sorted(slot.scheduled for _, slot in found)
