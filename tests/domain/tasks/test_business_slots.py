"""Backfills of a task: the instances of business days, and the natural containers of instants."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from tidegate.domain.model import Calendar, Cycle, TaskTimes, TaskTrigger
from tidegate.domain.tasks.grid import business_slots, natural_container
from tidegate.domain.tasks.key import TaskKeyError

BERLIN = "Europe/Berlin"
LORD_HOWE = "Australia/Lord_Howe"
NEW_YORK = "America/New_York"
SAO_PAULO = "America/Sao_Paulo"

TUESDAY = date(2026, 3, 10)
WEEKEND = Calendar(name="weekend")


def task(
    cycle: Cycle, zone: str = NEW_YORK, *, of: dict[str, Any] | None = None, **times: Any
) -> TaskTrigger:
    return TaskTrigger(cycle=cycle, timezone=zone, times=TaskTimes(**times), **(of or {}))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


# --- backfills --------------------------------------------------------------------------


def test_a_backfill_of_days_has_the_instances_of_the_next_days() -> None:
    # given a task of business days
    given = task("day", time=120, of={"calendar": WEEKEND})
    # when Thursday to Saturday are asked for
    found = business_slots(given, "2026-03-05", "2026-03-07")
    # then they are those of Friday, and the empty runs of Saturday and Sunday
    assert [(key, slot.scheduled, slot.empty) for key, slot in found] == [
        ("2026-03-05", at("2026-03-06T00:00-05:00"), False),
        ("2026-03-06", at("2026-03-07T00:00-05:00"), True),
        ("2026-03-07", at("2026-03-08T00:00-05:00"), True),
    ]
    assert found[0][1].start == at("2026-03-06T02:00-05:00")


ONE_DAY = [
    ("hours", task("hour"), "2026-03-10", 24, "00:00", "23:00"),
    ("23 hours", task("hour"), "2026-03-08", 23, "00:00", "23:00"),
    ("25 hours", task("hour"), "2026-11-01", 25, "00:00", "23:00"),
    ("23 hours in Berlin", task("hour", BERLIN), "2026-03-29", 23, "00:00", "23:00"),
    ("25 hours in Berlin", task("hour", BERLIN), "2026-10-25", 25, "00:00", "23:00"),
    ("half an hour more", task("hour", LORD_HOWE), "2026-04-05", 24, "00:00", "23:00"),
    ("half an hour less", task("hour", LORD_HOWE), "2026-10-04", 23, "00:00", "23:00"),
    ("no midnight", task("hour", SAO_PAULO), "2018-11-04", 23, "01:00", "23:00"),
    # Scheduled at 06:00, 12:00 and 18:00, and at 00:00 of the next day.
    ("six-hourly", task("hour", every=6), "2026-03-10", 4, "05:00", "23:00"),
    ("minutes", task("minute"), "2026-03-10", 1440, "00:00", "23:59"),
    ("minutes of 25 hours", task("minute"), "2026-11-01", 1500, "00:00", "23:59"),
    # Calendar and bounds count for the scheduled time: 00:00 of Monday has the business hour 23:00.
    ("a Sunday", task("hour", of={"calendar": WEEKEND}), "2026-03-08", 1, "23:00", "23:00"),
    ("a Friday", task("hour", of={"calendar": WEEKEND}), "2026-03-06", 23, "00:00", "22:00"),
    ("the last day", task("hour", of={"valid_to": TUESDAY}), "2026-03-10", 23, "00:00", "22:00"),
    ("the day before the first", task("hour", of={"valid_from": TUESDAY}), "2026-03-09", 1, "23:00", "23:00"),
]


@pytest.mark.parametrize(
    ("sentence", "given", "day", "count", "first", "last"), ONE_DAY, ids=[row[0] for row in ONE_DAY]
)
def test_a_backfill_has_all_instances_of_a_business_day(
    sentence: str, given: TaskTrigger, day: str, count: int, first: str, last: str
) -> None:
    found = business_slots(given, day, day)
    assert (len(found), found[0][0], found[-1][0]) == (count, f"{day}-{first}", f"{day}-{last}")
    assert len({key for key, _ in found}) == count
    assert [slot.scheduled for _, slot in found] == sorted(slot.scheduled for _, slot in found)


SEVERAL_DAYS = [
    ("hours over a month's end", task("hour"), "2026-02-27", "2026-03-01", 72),
    ("hours over a leap day", task("hour"), "2024-02-28", "2024-03-01", 72),
    ("hours over a day of 23", task("hour"), "2026-03-07", "2026-03-09", 71),
    ("days over a leap day", task("day"), "2024-02-28", "2024-03-01", 3),
    ("days from the first", task("day", of={"valid_from": TUESDAY}), "2026-03-01", "2026-03-10", 2),
    ("days to the last", task("day", of={"valid_to": TUESDAY}), "2026-03-08", "2026-03-20", 2),
    ("a year of days", task("year", dates=((1, 1),)), "2026-01-01", "2026-12-31", 365),
    ("a skipped day is a business day", task("day", "Pacific/Apia"), "2011-12-28", "2011-12-31", 3),
]


@pytest.mark.parametrize(
    ("sentence", "given", "first", "last", "count"), SEVERAL_DAYS, ids=[row[0] for row in SEVERAL_DAYS]
)
def test_a_backfill_of_several_days(
    sentence: str, given: TaskTrigger, first: str, last: str, count: int
) -> None:
    found = business_slots(given, first, last)
    assert len(found) == len({key for key, _ in found}) == len({slot for _, slot in found}) == count


def test_a_backfill_of_nothing() -> None:
    assert business_slots(task("hour", of={"enabled": False}), "2026-03-10", "2026-03-10") == ()
    assert business_slots(task("day"), "2026-03-10", "2026-03-09") == ()
    assert business_slots(task("hour"), "2026-03-10", "2026-03-09") == ()


@pytest.mark.parametrize(
    ("first", "last"),
    [("2026-02-30", "2026-03-10"), ("2026-03-10", "2026-03-10-10:00"), ("2026-03-10", "tomorrow")],
)
def test_a_backfill_is_from_a_date_to_a_date(first: str, last: str) -> None:
    for cycle in ("day", "hour"):
        with pytest.raises(TaskKeyError):
            business_slots(task(cycle), first, last)


# --- containers -------------------------------------------------------------------------

CONTAINERS = [
    ("the hour", "03-10T10:17-04:00", "hour", False, "03-10T10:00-04:00", "03-10T11:00-04:00"),
    ("the hour before", "03-10T10:17-04:00", "hour", True, "03-10T09:00-04:00", "03-10T10:00-04:00"),
    ("over midnight", "03-10T00:00-04:00", "hour", True, "03-09T23:00-04:00", "03-10T00:00-04:00"),
    ("the day", "03-10T10:17-04:00", "day", False, "03-10T00:00-04:00", "03-11T00:00-04:00"),
    ("the day before", "03-10T10:17-04:00", "day", True, "03-09T00:00-04:00", "03-10T00:00-04:00"),
    ("a day of 23 hours", "03-09T00:00-04:00", "day", True, "03-08T00:00-05:00", "03-09T00:00-04:00"),
    ("a day of 25 hours", "11-01T12:00-05:00", "day", False, "11-01T00:00-04:00", "11-02T00:00-05:00"),
    ("the first pass", "11-01T01:17-04:00", "hour", False, "11-01T01:00-04:00", "11-01T01:00-05:00"),
    ("the second pass", "11-01T01:17-05:00", "hour", False, "11-01T01:00-05:00", "11-01T02:00-05:00"),
    ("before the second", "11-01T01:17-05:00", "hour", True, "11-01T01:00-04:00", "11-01T01:00-05:00"),
    ("before the gap", "03-08T03:17-04:00", "hour", True, "03-08T01:00-05:00", "03-08T03:00-04:00"),
]


@pytest.mark.parametrize(
    ("sentence", "instant", "unit", "previous", "start", "end"),
    CONTAINERS,
    ids=[row[0] for row in CONTAINERS],
)
def test_the_container_of_an_instant(
    sentence: str, instant: str, unit: Any, previous: bool, start: str, end: str
) -> None:
    found = natural_container(NEW_YORK, at(f"2026-{instant}"), unit, previous=previous)
    assert (found.start, found.end) == (at(f"2026-{start}"), at(f"2026-{end}"))


def test_a_container_is_a_day_of_its_zone() -> None:
    # given a day that begins at 01:00
    found = natural_container(SAO_PAULO, at("2018-11-04T12:00-02:00"), "day")
    assert (found.start, found.end) == (at("2018-11-04T01:00-02:00"), at("2018-11-05T00:00-02:00"))
    # and a day before which the clocks skip a whole day
    found = natural_container("Pacific/Apia", at("2011-12-31T12:00+14:00"), "day", previous=True)
    assert (found.start, found.end) == (at("2011-12-29T00:00-10:00"), at("2011-12-31T00:00+14:00"))
