"""The grid of a task: the instances of a day, their start times, empty runs and backfills."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tidegate.domain.model import Calendar, Cycle, TaskTimes, TaskTrigger
from tidegate.domain.tasks.grid import (
    Slot,
    day_begins,
    generation_time,
    slot_at,
    slots_of_day,
)

BERLIN = "Europe/Berlin"
LORD_HOWE = "Australia/Lord_Howe"
KATHMANDU = "Asia/Kathmandu"
NEW_YORK = "America/New_York"
SAO_PAULO = "America/Sao_Paulo"

TUESDAY = date(2026, 3, 10)
WEEKEND = Calendar(name="weekend")
US = Calendar(name="us", country="US")

DAY = timedelta(days=1)


def task(
    cycle: Cycle, zone: str = NEW_YORK, *, of: dict[str, Any] | None = None, **times: Any
) -> TaskTrigger:
    return TaskTrigger(cycle=cycle, timezone=zone, times=TaskTimes(**times), **(of or {}))


def lord_howe(**times: Any) -> TaskTrigger:
    return task("hour", "Australia/Lord_Howe", **times)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def clock(hours: int, minutes: int = 0) -> int:
    return hours * 60 + minutes


def walls(slots: tuple[Slot, ...], zone: str = NEW_YORK) -> list[str]:
    """The scheduled times on the clocks of a zone; followed by "+n" by minutes if it starts later."""
    found: list[str] = []
    for slot in slots:
        later = (slot.start - slot.scheduled) // timedelta(minutes=1)
        found.append(f"{slot.scheduled.astimezone(ZoneInfo(zone)):%H:%M}" + (f"+{later}" if later else ""))
    return found


# --- hours and minutes ------------------------------------------------------------------

HOURS_AND_MINUTES = [
    ("each hour", task("hour"), [f"{hour:02}:00" for hour in range(24)]),
    ("each hour at 10 past", task("hour", minute=10), [f"{hour:02}:00+10" for hour in range(24)]),
    (
        "every 5 hours begins at 00:00 each day",
        task("hour", every=5),
        ["00:00", "05:00", "10:00", "15:00", "20:00"],
    ),
    (
        "every 2 hours from 07:00",
        task("hour", every=2, from_=clock(17)),
        ["17:00", "19:00", "21:00", "23:00"],
    ),
    (
        "both bounds included",
        task("hour", every=3, from_=clock(8), to=clock(14)),
        ["08:00", "11:00", "14:00"],
    ),
    ("until a bound", task("hour", every=2, to=clock(4)), ["00:00", "02:00", "04:00"]),
    (
        "bounds without the minute",
        task("hour", minute=30, from_=clock(8), to=clock(9)),
        ["08:00+30", "09:00+30"],
    ),
    ("more than a day apart", task("hour", every=24), ["00:00"]),
    ("bounds that exclude each other", task("hour", from_=clock(9), to=clock(8)), []),
    (
        "every 7 minutes begins at :00 each hour",
        task("minute", every=7, from_=clock(9), to=clock(10, 7)),
        ["09:00", "09:07", "09:14", "09:21", "09:28", "09:35", "09:42", "09:49", "09:56", "10:00", "10:07"],
    ),
    (
        "a bound off the grid does not move it",
        task("minute", every=30, from_=clock(9, 10), to=clock(10, 29)),
        ["09:30", "10:00"],
    ),
    ("a single minute", task("minute", from_=clock(9, 10), to=clock(9, 10)), ["09:10"]),
]


@pytest.mark.parametrize(
    ("sentence", "given", "expected"), HOURS_AND_MINUTES, ids=[row[0] for row in HOURS_AND_MINUTES]
)
def test_instances_of_hours_and_minutes(sentence: str, given: TaskTrigger, expected: list[str]) -> None:
    assert walls(slots_of_day(given, TUESDAY)) == expected


@pytest.mark.parametrize(
    ("given", "day", "count"),
    [
        (task("hour", from_=clock(8), to=clock(20)), TUESDAY, 13),
        (task("hour"), TUESDAY, 24),
        (task("hour"), date(2026, 3, 8), 23),
        (task("hour"), date(2026, 11, 1), 25),
        (task("minute"), TUESDAY, 1440),
        (task("minute"), date(2026, 3, 8), 1380),
        (task("minute"), date(2026, 11, 1), 1500),
        (task("minute", every=7), TUESDAY, 24 * 9),
        (task("minute", every=30), TUESDAY, 48),
        (task("hour", BERLIN), date(2026, 3, 29), 23),
        (task("hour", BERLIN), date(2026, 10, 25), 25),
        # Half an hour has no full hour of its own, and its minutes are doubled or skipped.
        (task("hour", LORD_HOWE), date(2026, 4, 5), 24),
        (task("hour", LORD_HOWE), date(2026, 10, 4), 23),
        (task("minute", LORD_HOWE), date(2026, 4, 5), 1470),
        (task("minute", LORD_HOWE), date(2026, 10, 4), 1410),
        (task("hour", SAO_PAULO), date(2018, 11, 4), 23),
        (task("hour", "Asia/Beirut"), date(2026, 3, 29), 23),
        (task("hour", "Africa/Cairo"), date(2026, 4, 24), 23),
        (task("hour", "Pacific/Apia"), date(2011, 12, 30), 0),
    ],
)
def test_a_day_has_as_many_instances_as_its_clocks_show(given: TaskTrigger, day: date, count: int) -> None:
    assert len(slots_of_day(given, day)) == count


CLOCK_CHANGES = [
    ("a gap", task("hour", to=240), date(2026, 3, 8), ["00:00", "01:00", "03:00", "04:00"]),
    ("no time after the gap instead", task("hour", every=2, to=240), date(2026, 3, 8), ["00:00", "04:00"]),
    ("two passes", task("hour", to=120), date(2026, 11, 1), ["00:00", "01:00", "01:00", "02:00"]),
    (
        "each with its start",
        task("hour", minute=30, to=60),
        date(2026, 11, 1),
        ["00:00+30", *2 * ["01:00+30"]],
    ),
    ("the wall clock counts", task("hour", every=2, to=240), date(2026, 11, 1), ["00:00", "02:00", "04:00"]),
    ("minutes", task("minute", every=30, from_=60, to=90), date(2026, 11, 1), 2 * ["01:00", "01:30"]),
    ("in Berlin", task("hour", BERLIN, to=180), date(2026, 3, 29), ["00:00", "01:00", "03:00"]),
    ("Lord Howe, back", lord_howe(minute=10, from_=60, to=120), date(2026, 4, 5), ["01:00+10", "02:00+10"]),
    # 01:45 is doubled within one natural hour: the second time counts.
    ("and doubled", lord_howe(minute=45, from_=60, to=120), date(2026, 4, 5), ["01:00+75", "02:00+45"]),
    (
        "Lord Howe, forward",
        lord_howe(minute=10, from_=60, to=180),
        date(2026, 10, 4),
        ["01:00+10", "03:00+10"],
    ),
    # 02:00 is in the gap and 02:45 is not: it is in the natural hour of 01:45.
    (
        "and two of an hour",
        lord_howe(minute=45, from_=60, to=180),
        date(2026, 10, 4),
        ["01:00+75", "03:00+45"],
    ),
    ("and one of them", lord_howe(minute=45, from_=120, to=180), date(2026, 10, 4), ["01:00+75", "03:00+45"]),
    ("no midnight", task("hour", SAO_PAULO, every=12), date(2018, 11, 4), ["12:00"]),
    # From 00:00 to 00:15: the day begins within a natural hour of the day before.
    ("a day within an hour", task("hour", KATHMANDU, minute=30, to=60), date(1986, 1, 1), ["01:00+30"]),
    ("and before it", task("hour", KATHMANDU, minute=30, to=0), date(1985, 12, 31), ["00:00+30", "23:00+75"]),
]


@pytest.mark.parametrize(
    ("sentence", "given", "day", "expected"), CLOCK_CHANGES, ids=[row[0] for row in CLOCK_CHANGES]
)
def test_instances_where_clocks_change(
    sentence: str, given: TaskTrigger, day: date, expected: list[str]
) -> None:
    assert walls(slots_of_day(given, day), given.timezone) == expected


# --- days and longer --------------------------------------------------------------------

DAY_CLASS = [
    ("a day", task("day", time=clock(2)), "2026-03-10T00:00-04:00", "2026-03-10T02:00-04:00"),
    ("midnight by default", task("day"), "2026-03-10T00:00-04:00", "2026-03-10T00:00-04:00"),
    ("a leap day", task("day", time=clock(2)), "2024-02-29T00:00-05:00", "2024-02-29T02:00-05:00"),
    ("in the gap", task("day", time=clock(2, 30)), "2026-03-08T00:00-05:00", "2026-03-08T03:00-04:00"),
    ("after the gap", task("day", time=clock(4)), "2026-03-08T00:00-05:00", "2026-03-08T04:00-04:00"),
    ("doubled", task("day", time=clock(1, 30)), "2026-11-01T00:00-04:00", "2026-11-01T01:30-05:00"),
    ("after it", task("day", time=clock(2)), "2026-11-01T00:00-04:00", "2026-11-01T02:00-05:00"),
    ("in Berlin", task("day", BERLIN, time=clock(2, 30)), "2026-03-29T00:00+01:00", "2026-03-29T03:00+02:00"),
    (
        "half an hour",
        task("day", LORD_HOWE, time=clock(2)),
        "2026-10-04T00:00+10:30",
        "2026-10-04T02:30+11:00",
    ),
    (
        "doubled half",
        task("day", LORD_HOWE, time=clock(1, 45)),
        "2026-04-05T00:00+11:00",
        "2026-04-05T01:45+10:30",
    ),
    ("no midnight", task("day", SAO_PAULO), "2018-11-04T01:00-02:00", "2018-11-04T01:00-02:00"),
    ("in Beirut", task("day", "Asia/Beirut"), "2026-03-29T01:00+03:00", "2026-03-29T01:00+03:00"),
    ("in Cairo", task("day", "Africa/Cairo", time=30), "2026-04-24T01:00+03:00", "2026-04-24T01:00+03:00"),
    ("two midnights", task("day", "America/Havana"), "2026-11-01T00:00-04:00", "2026-11-01T00:00-05:00"),
]


@pytest.mark.parametrize(
    ("sentence", "given", "scheduled", "start"), DAY_CLASS, ids=[row[0] for row in DAY_CLASS]
)
def test_the_instance_of_a_day(sentence: str, given: TaskTrigger, scheduled: str, start: str) -> None:
    day = date.fromisoformat(scheduled[:10])
    assert slots_of_day(given, day) == (Slot(scheduled=at(scheduled), start=at(start)),)
    assert day_begins(given, day) == at(scheduled)
    assert generation_time(given, day) == at(scheduled) - timedelta(hours=2)


def test_a_day_that_clocks_skip_has_no_instance() -> None:
    given = task("day", "Pacific/Apia", time=clock(12))
    assert slots_of_day(given, date(2011, 12, 30)) == ()
    assert day_begins(given, date(2011, 12, 30)) == day_begins(given, date(2011, 12, 31))


REAL = [
    ("each day", task("day"), "2026-02-01", list(range(1, 17))),
    ("business days", task("day", of={"calendar": WEEKEND}), "2026-03-01", [*range(2, 7), *range(9, 14), 16]),
    ("and holidays", task("day", of={"calendar": US}), "2026-07-01", [1, 2, 6, 7, 8, 9, 10, 13, 14, 15, 16]),
    ("weekdays", task("week", weekdays=("mon", "thu")), "2026-03-01", [2, 5, 9, 12, 16]),
    (
        "weekdays and a calendar",
        task("week", weekdays=("fri", "sun"), of={"calendar": US}),
        "2026-07-01",
        [10],
    ),
    ("days of a month", task("month", days=(1, 15)), "2026-03-01", [1, 15]),
    ("the last of 31", task("month", days=(-1,)), "2026-03-16", [31]),
    ("the last of 30, and the first", task("month", days=(1, -1)), "2026-04-16", [30, 1]),
    ("the last of February", task("month", days=(-1,)), "2026-02-13", [28]),
    ("of a leap year", task("month", days=(-1,)), "2024-02-14", [29]),
    ("named twice", task("month", days=(28, -1)), "2026-02-13", [28]),
    ("a day that a month lacks", task("month", days=(31,)), "2026-04-15", []),
    ("a month's day on a weekend", task("month", days=(1, 2), of={"calendar": WEEKEND}), "2026-03-01", [2]),
    ("dates", task("year", dates=((1, 1), (7, 1))), "2026-07-01", [1]),
    ("29 February of a leap year", task("year", dates=((2, 29),)), "2024-02-14", [29]),
    ("29 February of another", task("year", dates=((2, 29),)), "2026-02-13", []),
]


@pytest.mark.parametrize(("sentence", "given", "first", "real"), REAL, ids=[row[0] for row in REAL])
def test_off_days_have_empty_runs(sentence: str, given: TaskTrigger, first: str, real: list[int]) -> None:
    # given sixteen days
    days = [date.fromisoformat(first) + n * DAY for n in range(16)]
    slots = [slots_of_day(given, day) for day in days]
    assert all(len(found) == 1 for found in slots), "there is one instance on each day"
    assert [day.day for day, (slot,) in zip(days, slots, strict=True) if not slot.empty] == real
    assert all(slot.start == day_begins(given, day) for day, (slot,) in zip(days, slots, strict=True))


def test_a_calendar_leaves_days_without_hours_and_minutes() -> None:
    for cycle in ("hour", "minute"):
        given = task(cycle, of={"calendar": US})
        assert slots_of_day(given, date(2026, 7, 3)) == (), "the day on which a holiday is observed"
        assert slots_of_day(given, date(2026, 7, 5)) == (), "a Sunday"
        assert slots_of_day(given, date(2026, 7, 6)) == slots_of_day(task(cycle), date(2026, 7, 6))


@pytest.mark.parametrize("cycle", ["minute", "hour", "day", "month"])
@pytest.mark.parametrize(
    ("bounds", "days"),
    [
        ({}, [9, 10, 11, 12]),
        ({"valid_from": date(2026, 3, 10)}, [10, 11, 12]),
        ({"valid_to": date(2026, 3, 10)}, [9, 10]),
        ({"valid_from": date(2026, 3, 10), "valid_to": date(2026, 3, 11)}, [10, 11]),
        ({"valid_from": date(2026, 3, 11), "valid_to": date(2026, 3, 10)}, []),
        ({"enabled": False}, []),
    ],
)
def test_instances_are_on_valid_days_of_enabled_tasks(
    cycle: Cycle, bounds: dict[str, Any], days: list[int]
) -> None:
    given = task(cycle, of=bounds, days=(10,))
    assert [n for n in range(9, 13) if slots_of_day(given, date(2026, 3, n))] == days


# --- one slot ---------------------------------------------------------------------------

ONE = [
    ("on the grid", task("hour", minute=10), "2026-03-10T10:00-04:00", "10:00+10"),
    ("truncated", task("hour", minute=10), "2026-03-10T10:59:59-04:00", "10:00+10"),
    ("off the grid", task("hour", every=6, minute=10), "2026-03-10T10:17-04:00", "10:00+10"),
    ("a minute off the grid", task("minute", every=5), "2026-03-10T10:17:30-04:00", "10:17"),
    ("a minute on it", task("minute", every=5), "2026-03-10T10:15:30-04:00", "10:15"),
    ("a day", task("day", time=clock(2)), "2026-03-10T10:17-04:00", "00:00+120"),
    ("a day with a gap", task("day", time=clock(4)), "2026-03-08T10:17-04:00", "00:00+180"),
    ("the second pass", task("hour", minute=10), "2026-11-01T01:17-05:00", "01:00+10"),
    (
        "a disabled task",
        task("day", time=clock(2), of={"enabled": False}),
        "2026-03-10T10:17-04:00",
        "00:00+120",
    ),
    ("a day without hours", task("hour", minute=5, of={"calendar": US}), "2026-03-08T10:17-04:00", "10:00+5"),
]


@pytest.mark.parametrize(("sentence", "given", "instant", "expected"), ONE, ids=[row[0] for row in ONE])
def test_the_slot_at_an_instant(sentence: str, given: TaskTrigger, instant: str, expected: str) -> None:
    slot = slot_at(given, at(instant))
    assert walls((slot,)) == [expected]
    assert slot.scheduled <= at(instant) and not slot.empty


def test_the_slot_of_an_off_day_is_empty_on_the_grid_and_real_off_it() -> None:
    sunday = at("2026-03-15T10:00-04:00")
    assert slot_at(task("day", of={"calendar": WEEKEND}), sunday).empty
    assert not slot_at(task("day", of={"calendar": WEEKEND, "enabled": False}), sunday).empty
