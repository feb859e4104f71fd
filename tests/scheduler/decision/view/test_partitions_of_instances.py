"""The partitions that contain a business date, in the zone of the task and in others."""

import pytest

from tidegate.domain.model import Cycle, PartitionScheme, StaticDimension, TaskTrigger, TimeDimension
from tidegate.domain.tasks.grid import slot_at
from tidegate.domain.tasks.key import parse_scheduled
from tidegate.scheduler.decision.instances.made import instance_of_slot
from tidegate.scheduler.decision.view.partitions import WHOLE, partitions_of

SHOPS = StaticDimension(name="shop", keys=("a", "b"))


def scheme(cycle: Cycle, zone: str = "UTC", start: str = "2026-01-01") -> PartitionScheme:
    return PartitionScheme(time=TimeDimension(name="t", cycle=cycle, start=start, timezone=zone))


INDIA, TOKYO, YORK = "Asia/Kolkata", "Asia/Tokyo", "America/New_York"

ROWS = [
    ("an hour in its zone", ("hour", INDIA, "2026-03-10-06:00"), scheme("hour", INDIA), "2026-03-10-05:00"),
    ("the hour that contains it", ("hour", INDIA, "2026-03-10-06:00"), scheme("hour"), "2026-03-09-23:00"),
    ("west of it", ("hour", YORK, "2026-03-10-06:00"), scheme("hour"), "2026-03-10-09:00"),
    ("a minute", ("minute", INDIA, "2026-03-10-05:31"), scheme("minute"), "2026-03-10-00:00"),
    ("an hour for a minute", ("minute", INDIA, "2026-03-10-05:31"), scheme("hour"), "2026-03-10-00:00"),
    (
        "the second pass of an hour",
        ("hour", YORK, "2026-11-01-02:00"),
        scheme("hour", YORK),
        "2026-11-01-01:00-0500",
    ),
    ("a day as it reads", ("day", TOKYO, "2026-03-10"), scheme("day", YORK), "2026-03-09"),
    ("a day of an hour as it reads", ("hour", YORK, "2026-03-10-00:00"), scheme("day", TOKYO), "2026-03-09"),
    ("a month as it reads", ("day", TOKYO, "2026-03-01"), scheme("month", YORK), "2026-02-01"),
]


@pytest.mark.parametrize(("sentence", "instance", "outputs", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_a_business_date_in_partitions(
    sentence: str, instance: tuple[Cycle, str, str], outputs: PartitionScheme, expected: str
) -> None:
    assert partitions(instance, outputs) == (expected,)


def partitions(instance: tuple[Cycle, str, str], outputs: PartitionScheme | None) -> tuple[str, ...]:
    cycle, zone, key = instance
    task = TaskTrigger(cycle=cycle, timezone=zone)
    return partitions_of(outputs, task, instance_of_slot(task, slot_at(task, parse_scheduled(task, key))))


def test_finer_partitions_are_all_that_begin_within_it() -> None:
    day = ("day", INDIA, "2026-03-10")
    own, other = partitions(day, scheme("hour", INDIA)), partitions(day, scheme("hour"))
    assert (len(own), own[0], own[-1]) == (24, "2026-03-09-00:00", "2026-03-09-23:00")
    assert (len(other), other[0], other[-1]) == (24, "2026-03-08-19:00", "2026-03-09-18:00")


def test_finer_partitions_before_the_first_one_do_not_exist() -> None:
    day = ("day", "UTC", "2026-03-10")
    assert partitions(day, scheme("hour", start="2026-03-09-22:00")) == (
        "2026-03-09-22:00",
        "2026-03-09-23:00",
    )
    assert partitions(day, scheme("hour", start="2026-03-11")) == ()


def test_a_second_dimension_has_each_of_its_keys() -> None:
    day = ("day", "UTC", "2026-03-10")
    two = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2026-01-01"), static=SHOPS)
    assert partitions(day, two) == ("2026-03-09|a", "2026-03-09|b")
    assert partitions(day, PartitionScheme(static=SHOPS)) == ("a", "b")
    assert partitions(day, None) == (WHOLE,)
