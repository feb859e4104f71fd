"""Which instance a key reports: the one whose business date it is, in every cycle and zone."""

import pytest

from tidegate.domain.model import (
    Cycle,
    PartitionScheme,
    StaticDimension,
    TaskTimes,
    TaskTrigger,
    TimeDimension,
)
from tidegate.domain.tasks.key import scheduled_key
from tidegate.domain.tasks.reported import all_landed, is_reported_by, slots_reported

NEW_YORK, KOLKATA = "America/New_York", "Asia/Kolkata"


def source(cycle: Cycle, zone: str = "UTC", times: TaskTimes | None = None) -> TaskTrigger:
    return TaskTrigger(
        type="source",
        dataset="raw",
        update="outside",
        cycle=cycle,
        timezone=zone,
        times=times or TaskTimes(),
    )


def scheme(cycle: Cycle, zone: str = "UTC", *, cities: bool = False) -> PartitionScheme:
    time = TimeDimension(name="at", cycle=cycle, start="2026-01-01", timezone=zone)
    return PartitionScheme(
        time=time, static=StaticDimension(name="city", keys=("oslo", "rome")) if cities else None
    )


def reported(task: TaskTrigger, of: PartitionScheme, key: str) -> list[str]:
    return [scheduled_key(task, slot.scheduled) for slot in slots_reported(task, of, key)]


@pytest.mark.parametrize(
    ("cycle", "zone", "key", "scheduled"),
    [
        ("hour", "UTC", "2026-03-10-09:00", ["2026-03-10-10:00"]),
        ("hour", "UTC", "2026-03-10-23:00", ["2026-03-11-00:00"]),
        ("minute", "UTC", "2026-03-10-09:59", ["2026-03-10-10:00"]),
        ("day", "UTC", "2026-03-09", ["2026-03-10"]),
        ("day", NEW_YORK, "2026-03-07", ["2026-03-08"]),
        # The doubled hour: each pass reports the one after it.
        ("hour", NEW_YORK, "2026-11-01-00:00", ["2026-11-01-01:00"]),
        ("hour", NEW_YORK, "2026-11-01-01:00", ["2026-11-01-01:00-0500"]),
        ("hour", NEW_YORK, "2026-11-01-01:00-0500", ["2026-11-01-02:00"]),
        # The skipped one.
        ("hour", NEW_YORK, "2026-03-08-01:00", ["2026-03-08-03:00"]),
        ("hour", KOLKATA, "2026-03-10-09:00", ["2026-03-10-10:00"]),
    ],
)
def test_the_instance_one_unit_later(cycle: Cycle, zone: str, key: str, scheduled: list[str]) -> None:
    assert reported(source(cycle, zone), scheme(cycle, zone), key) == scheduled


def test_a_day_is_read_as_it_is_written_and_an_hour_as_an_instant() -> None:
    assert reported(source("day", KOLKATA), scheme("day"), "2026-03-09") == ["2026-03-10"]
    assert reported(source("hour", NEW_YORK), scheme("hour"), "2026-03-10-13:00") == ["2026-03-10-10:00"]


def test_longer_periods_report_their_real_instances() -> None:
    week = source("week", times=TaskTimes(weekdays=("sun", "wed")))
    # The week from Sunday 8 March to Saturday 14 March, by their business dates.
    assert reported(week, scheme("week"), "2026-03-08") == ["2026-03-11", "2026-03-15"]
    month = source("month", times=TaskTimes(days=(1,)))
    assert reported(month, scheme("month"), "2026-02-01") == ["2026-03-01"]
    assert reported(source("year", times=TaskTimes(dates=((1, 1),))), scheme("year"), "2026-01-01") == [
        "2027-01-01"
    ]


@pytest.mark.parametrize(
    ("task", "of"),
    [
        (source("day"), scheme("hour")),
        (source("day"), None),
        (TaskTrigger(type="source", dataset="raw", update="periodic", cycle="day"), scheme("day")),
        (TaskTrigger(type="external", dataset="raw", update="outside", cycle="day"), scheme("day")),
    ],
)
def test_other_tasks_are_reported_by_people(task: TaskTrigger, of: PartitionScheme | None) -> None:
    assert not is_reported_by(task, of)


def test_of_two_dimensions_every_key_is_needed() -> None:
    of = scheme("hour", cities=True)
    assert reported(source("hour"), of, "2026-03-10-09:00|oslo") == ["2026-03-10-10:00"]
    assert not all_landed(of, ["2026-03-10-09:00|oslo"])
    assert all_landed(of, ["2026-03-10-09:00|oslo", "2026-03-10-09:00|rome"])
    assert all_landed(scheme("hour"), ["2026-03-10-09:00"])
