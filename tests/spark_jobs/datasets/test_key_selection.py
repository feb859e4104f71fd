"""Which input partitions a run reads: one row for each sentence of the rule."""

import pytest

from tidegate.domain.model import Cycle, PartitionScheme, StaticDimension, TimeDimension
from tidegate.spark_jobs.datasets.key_selection import KeySelection, UpstreamSelection


def scheme(cycle: Cycle | None = None, *airports: str) -> PartitionScheme:
    time = None
    if cycle is not None:
        start = "2013-01-01-00:00" if cycle in ("minute", "hour") else "2013-01-01"
        time = TimeDimension(name="when", cycle=cycle, start=start, timezone="America/New_York")
    return PartitionScheme(
        time=time, static=StaticDimension(name="airport", keys=airports) if airports else None
    )


def monday_weeks() -> PartitionScheme:
    time = TimeDimension(name="when", cycle="week", start="2013-01-07", week_starts="mon")
    return PartitionScheme(time=time)


DAY, HOUR, MONTH = scheme("day"), scheme("hour"), scheme("month")
BY_AIRPORT = scheme("day", "EWR", "JFK")
AIRPORT = scheme(None, "EWR", "JFK")


@pytest.mark.parametrize(
    ("output", "keys", "given", "key", "taken"),
    [
        # the same scheme: the same keys
        (DAY, ("2013-12-22",), DAY, "2013-12-22", True),
        (DAY, ("2013-12-22",), DAY, "2013-12-23", False),
        (DAY, ("2013-12-22", "2013-12-30"), DAY, "2013-12-30", True),
        (BY_AIRPORT, ("JFK|2013-12-22",), BY_AIRPORT, "JFK|2013-12-22", True),
        (BY_AIRPORT, ("JFK|2013-12-22",), BY_AIRPORT, "EWR|2013-12-22", False),
        # a finer input: all parts of the period
        (DAY, ("2013-12-22",), HOUR, "2013-12-22-23:00", True),
        (DAY, ("2013-12-22",), HOUR, "2013-12-23-00:00", False),
        (DAY, ("2013-11-03",), HOUR, "2013-11-03-01:00-0500", True),
        (MONTH, ("2013-12-01",), DAY, "2013-12-31", True),
        (DAY, ("2013-12-22",), BY_AIRPORT, "JFK|2013-12-22", True),
        (DAY, ("2013-12-22",), BY_AIRPORT, "JFK|2013-12-23", False),
        # a coarser input: the period around the output
        (HOUR, ("2013-12-22-05:00",), DAY, "2013-12-22", True),
        (HOUR, ("2013-12-22-05:00",), DAY, "2013-12-21", False),
        (BY_AIRPORT, ("JFK|2013-12-22",), MONTH, "2013-12-01", True),
        (BY_AIRPORT, ("JFK|2013-12-22",), DAY, "2013-12-22", True),
        # weeks begin where the coarser dataset says
        (monday_weeks(), ("2013-12-16",), monday_weeks(), "2013-12-16", True),
        (DAY, ("2013-12-22",), monday_weeks(), "2013-12-16", True),
        (DAY, ("2013-12-22",), monday_weeks(), "2013-12-23", False),
        # a dimension that only one of them has restricts nothing
        (BY_AIRPORT, ("JFK|2013-12-22",), AIRPORT, "JFK", True),
        (BY_AIRPORT, ("JFK|2013-12-22",), AIRPORT, "EWR", False),
        (DAY, ("2013-12-22",), AIRPORT, "EWR", True),
        # no partitions on one side: whole
        (None, (), DAY, "2013-12-22", True),
        (DAY, ("2013-12-22",), None, "", True),
    ],
)
def test_what_a_run_reads(
    output: PartitionScheme | None,
    keys: tuple[str, ...],
    given: PartitionScheme | None,
    key: str,
    taken: bool,
) -> None:
    assert KeySelection(output, keys).selects(given, key) is taken


@pytest.mark.parametrize(
    ("output", "given", "whole"),
    [
        (None, DAY, True),
        (DAY, None, True),
        (AIRPORT, DAY, True),
        (scheme(None, "EWR"), BY_AIRPORT, False),
        (DAY, DAY, False),
        (DAY, HOUR, False),
        (BY_AIRPORT, AIRPORT, False),
    ],
)
def test_whether_every_partition_is_read_whatever_the_run_writes(
    output: PartitionScheme | None, given: PartitionScheme | None, whole: bool
) -> None:
    assert KeySelection(output, ("2013-12-22",)).selects_all(given) is whole


@pytest.mark.parametrize(
    ("output", "given", "upstream", "own", "key", "taken"),
    [
        # the same periods: those of the upstream instances in place of the run's own
        (DAY, DAY, ("2013-12-21",), False, "2013-12-21", True),
        (DAY, DAY, ("2013-12-21",), False, "2013-12-22", False),
        # a table that the run writes too keeps its own partition
        (DAY, DAY, ("2013-12-21",), True, "2013-12-22", True),
        (DAY, DAY, ("2013-12-21",), True, "2013-12-20", False),
        # longer periods: the month that is done
        (DAY, MONTH, ("2013-11-01",), False, "2013-11-01", True),
        (DAY, MONTH, ("2013-11-01",), False, "2013-12-01", False),
        # shorter ones are those within the run's own, whichever instance was waited for
        (DAY, HOUR, ("2013-12-23-22:00",), False, "2013-12-22-05:00", True),
        (DAY, HOUR, ("2013-12-23-22:00",), False, "2013-12-23-22:00", False),
        # no upstream instance, or no periods to compare
        (DAY, DAY, (), False, "2013-12-22", True),
        (None, DAY, ("2013-12-21",), False, "2013-12-20", True),
        (DAY, None, ("",), False, "", True),
        (DAY, AIRPORT, ("EWR",), False, "JFK", True),
    ],
)
def test_an_instance_reads_what_its_upstream_instances_are_about(
    output: PartitionScheme | None,
    given: PartitionScheme | None,
    upstream: tuple[str, ...],
    own: bool,
    key: str,
    taken: bool,
) -> None:
    selection = UpstreamSelection(output, ("2013-12-22",), {"input": upstream}, own=["input"] if own else [])

    assert selection.reads("input", given, key) is taken
