"""The days of tasks: which business date each day is about, and which day is about a business date."""

from datetime import date, time, timedelta
from itertools import pairwise

import pytest

from tidegate.domain.model import Calendar, TaskTrigger
from tidegate.domain.model.triggers.task import TaskTimes
from tidegate.domain.tasks.days import date_of_day, day_of_date
from tidegate.domain.tasks.grid import business_instant, business_slots
from tidegate.domain.tasks.key import TaskKeyError, business_date, parse_scheduled, scheduled_of

OFFICE = Calendar(name="office", country="DE")
SIX = time(6)


def task(
    at: int = 0,
    *,
    business: bool = False,
    calendar: Calendar | None = None,
    day_starts: time = SIX,
    **more: object,
) -> TaskTrigger:
    return TaskTrigger(
        cycle="day",
        times=TaskTimes(time=at),
        previous_business_day=business,
        calendar=calendar,
        day_starts=day_starts,
        **more,  # pyright: ignore[reportArgumentType] - fields of a task
    )


ABOUT = [
    ("the day before", task(360), "2026-03-10", "2026-03-09"),
    ("before the day begins, the day before that", task(359), "2026-03-10", "2026-03-08"),
    ("where days begin at midnight", task(0, day_starts=time()), "2026-03-10", "2026-03-09"),
    ("Monday is about Friday", task(360, business=True), "2026-03-09", "2026-03-06"),
    ("Sunday is about Friday", task(360, business=True), "2026-03-08", "2026-03-06"),
    ("Saturday is about Friday", task(360, business=True), "2026-03-07", "2026-03-06"),
    ("a night after Monday is about Friday", task(0, business=True), "2026-03-10", "2026-03-06"),
    ("after Easter", task(360, business=True, calendar=OFFICE), "2026-04-07", "2026-04-02"),
]


@pytest.mark.parametrize(("sentence", "given", "day", "expected"), ABOUT, ids=[row[0] for row in ABOUT])
def test_the_business_date_of_a_day(sentence: str, given: TaskTrigger, day: str, expected: str) -> None:
    assert date_of_day(given, date.fromisoformat(day)).isoformat() == expected
    scheduled = parse_scheduled(given, day)
    assert business_date(given, scheduled) == expected
    assert business_instant(given, scheduled) == parse_scheduled(given, expected)


FOUND = [
    ("the day after", task(360), "2026-03-09", "2026-03-10"),
    ("two days after, before the day begins", task(0), "2026-03-09", "2026-03-11"),
    ("of three days the first", task(360, business=True), "2026-03-06", "2026-03-07"),
    ("the first that is not empty", task(360, business=True, calendar=OFFICE), "2026-03-06", "2026-03-09"),
    (
        "the first that is valid",
        task(360, business=True, valid_from=date(2026, 3, 8)),
        "2026-03-06",
        "2026-03-08",
    ),
    (
        "the last, if none is",
        task(360, business=True, valid_from=date(2026, 5, 1)),
        "2026-03-06",
        "2026-03-09",
    ),
    ("a Sunday has none", task(360, business=True), "2026-03-08", None),
]


@pytest.mark.parametrize(("sentence", "given", "business", "expected"), FOUND, ids=[row[0] for row in FOUND])
def test_the_day_of_a_business_date(
    sentence: str, given: TaskTrigger, business: str, expected: str | None
) -> None:
    found = day_of_date(given, date.fromisoformat(business))
    assert (None if found is None else found.isoformat()) == expected
    if expected is None:
        with pytest.raises(TaskKeyError, match="is not a business day of the task"):
            scheduled_of(given, business)
    else:
        assert scheduled_of(given, business) == parse_scheduled(given, expected)


def test_each_business_day_of_a_year_has_one_slot_and_it_leads_back() -> None:
    for given in (task(360, business=True, calendar=OFFICE), task(0, business=True)):
        found = business_slots(given, "2026-01-01", "2026-12-31")
        dates = [key for key, _ in found]
        assert len(dates) == len(set(dates)) == (254 if given.calendar else 261)
        assert all(business_date(given, slot.scheduled) == key for key, slot in found)
        assert all(one.scheduled < other.scheduled for (_, one), (_, other) in pairwise(found))
        assert not any(slot.empty for _, slot in found)


def test_a_calendar_of_single_days_has_no_business_day_near() -> None:
    single = Calendar(
        name="c", weekend=("mon", "tue", "wed", "thu", "fri", "sat", "sun"), open=(date(2026, 3, 9),)
    )
    given = task(360, business=True, calendar=single)
    assert date_of_day(given, date(2026, 3, 10)) == date(2026, 3, 9)
    for asked in (date_of_day, day_of_date):
        with pytest.raises(OverflowError, match="no business day within a year"):
            asked(given, date(2026, 3, 9) + (timedelta(0) if asked is day_of_date else timedelta(days=-1)))
