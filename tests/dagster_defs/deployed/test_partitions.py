"""Partitions: Dagster's keys are the compiler's, in every cycle, zone and dimension."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from dagster import AllPartitionMapping
from dagster._core.definitions.partitions.context import partition_loading_context

from tidegate.dagster_defs.deployed.partitions import is_range, mapping_between, partitions_of
from tidegate.domain.model import Cycle, Day, PartitionScheme, StaticDimension, TimeDimension
from tidegate.domain.partition_key import expected_keys, parse_time_key, validate_key
from tidegate.domain.time.cycle import CYCLES, DAYS_OF_WEEK

pytestmark = pytest.mark.dagster

SPAN: dict[Cycle, timedelta] = {
    "minute": timedelta(hours=30),
    "hour": timedelta(days=10),
    "day": timedelta(days=40),
    "week": timedelta(days=60),
    "month": timedelta(days=200),
    "year": timedelta(days=1100),
}
ORIGINS = StaticDimension(name="origin", keys=("LGA", "EWR", "JFK"))


def time_scheme(cycle: Cycle, start: str, zone: str = "UTC") -> PartitionScheme:
    return PartitionScheme(time=TimeDimension(name=cycle, cycle=cycle, start=start, timezone=zone))


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe"])
@pytest.mark.parametrize("start", ["2013-10-27", "2013-03-09"])
@pytest.mark.parametrize("cycle", CYCLES)
def test_the_keys_are_those_of_the_compiler(cycle: Cycle, start: str, zone: str) -> None:
    scheme = time_scheme(cycle, start, zone)
    now = datetime.fromisoformat(start).replace(tzinfo=UTC) + SPAN[cycle]

    with partition_loading_context(now):
        keys = partitions_of(scheme).get_partition_keys()

    assert len(keys) > 2
    periods = [parse_time_key(key, scheme.time) for key in keys]
    assert all(one.end == next.start for one, next in pairwise(periods))
    assert all(validate_key(scheme, key) is None for key in keys)


@pytest.mark.parametrize("first_day", DAYS_OF_WEEK)
def test_the_weeks_begin_on_the_day_that_is_named(first_day: Day) -> None:
    weeks = TimeDimension(name="week", cycle="week", start="2013-03-04", week_starts=first_day)
    with partition_loading_context(datetime(2013, 5, 1, tzinfo=UTC)):
        keys = partitions_of(PartitionScheme(time=weeks)).get_partition_keys()
    assert {DAYS_OF_WEEK[datetime.fromisoformat(key).isoweekday() % 7] for key in keys} == {first_day}
    assert all(validate_key(PartitionScheme(time=weeks), key) is None for key in keys)


def test_the_current_day_has_a_partition() -> None:
    with partition_loading_context(datetime(2023, 3, 10, 12, tzinfo=UTC)):
        assert partitions_of(time_scheme("day", "2023-03-01")).get_last_partition_key() == "2023-03-10"


def test_two_dimensions_are_joined_in_the_order_of_their_names() -> None:
    scheme = PartitionScheme(time=time_scheme("day", "2023-03-01").time, static=ORIGINS)

    with partition_loading_context(datetime(2023, 3, 2, tzinfo=UTC)):
        keys = [str(key) for key in partitions_of(scheme).get_partition_keys()]

    days = [expected_keys(scheme, "day", day) for day in ("2023-03-01", "2023-03-02")]
    assert sorted(keys) == sorted(key for day in days for key in day)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (("2023-03-01", "2023-03-02", "2023-03-03"), True),
        (("2023-02-28", "2023-03-01"), True),
        (("2023-03-01", "2023-03-03"), False),
        (("2023-03-01",), False),
    ],
)
def test_a_range_has_no_gaps(keys: tuple[str, ...], expected: bool) -> None:
    assert is_range(partitions_of(time_scheme("day", "2023-01-01")), keys) is expected


def test_a_range_of_names_follows_their_list() -> None:
    definition = partitions_of(PartitionScheme(static=ORIGINS))

    assert is_range(definition, ("LGA", "EWR"))
    assert not is_range(definition, ("LGA", "JFK"))


DAY = time_scheme("day", "2023-01-01")
DAY_BY_ORIGIN = PartitionScheme(time=DAY.time, static=ORIGINS)


@pytest.mark.parametrize(
    ("downstream", "upstream", "left_to_dagster"),
    [
        (DAY, DAY, True),
        (DAY, time_scheme("hour", "2023-01-01"), True),
        (DAY, time_scheme("day", "2023-01-01", "America/New_York"), False),
        (DAY, DAY_BY_ORIGIN, True),
        (DAY_BY_ORIGIN, DAY, True),
        (DAY, PartitionScheme(time=time_scheme("hour", "2023-01-01").time, static=ORIGINS), False),
        (DAY, PartitionScheme(static=ORIGINS), False),
        (DAY, None, True),
        (None, DAY, True),
    ],
)
def test_what_dagster_cannot_map_depends_on_everything(
    downstream: PartitionScheme | None, upstream: PartitionScheme | None, left_to_dagster: bool
) -> None:
    mapping = mapping_between(downstream, upstream)

    assert mapping is None if left_to_dagster else isinstance(mapping, AllPartitionMapping)
