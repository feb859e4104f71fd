"""What Hypothesis draws for data that is expected, and the questions that are asked about it; see `drawn`."""

from datetime import datetime, time, timedelta
from typing import Any

from hypothesis import strategies as st

from tests.worlds.samples import at
from tidegate.domain.model import Deadline
from tidegate.domain.model.dataset import PartitionScheme, StaticDimension, TimeDimension
from tidegate.scheduler.model.records.expected import (
    EXPECTED_DATA,
    EXPECTED_PERIODS,
    LATE_TOTALS,
    ExpectedData,
    ExpectedPeriod,
    LateTotal,
)
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.wanted import LateWanted

MANY = 100

SCHEME = PartitionScheme(
    time=TimeDimension(name="day", cycle="day", start="2026-01-01", timezone="Europe/Berlin"),
    static=StaticDimension(name="shop", keys=("a", "ä")),
)

datasets = st.sampled_from(["a/d", "a/s", "B/d"])
keys = st.sampled_from(["", "2026-03-09", "ä"])
instants = st.integers(0, 4).map(at)
maybe_instants = st.none() | instants

data = st.builds(
    ExpectedData,
    dataset=datasets,
    deadline=st.sampled_from([Deadline(by=time(8)), Deadline(within=timedelta(minutes=90))]),
    partitions=st.sampled_from([None, SCHEME]),
    zone=st.sampled_from(["UTC", "Europe/Berlin"]),
    since=instants,
    updated_at=maybe_instants,
    period=keys,
    due_at=maybe_instants,
)
periods = st.builds(
    ExpectedPeriod,
    dataset=datasets,
    period=keys,
    landed=st.dictionaries(keys, instants, max_size=2),
    due_at=maybe_instants,
    late_at=maybe_instants,
    missing=st.lists(keys, max_size=2).map(tuple),
    landed_at=maybe_instants,
)
totals = st.builds(
    LateTotal,
    kind=st.sampled_from(["schedule", "task", "dataset"]),
    name=st.sampled_from(["a/d", "a/s", "a/S", "B/d"]),
    number=st.integers(1, 2**40),
)

ARGUMENTS: dict[str, tuple[st.SearchStrategy[Any], ...]] = {}


def answers(reader: EngineReader, now: datetime) -> list[Any]:
    """What a reader says to every question about data that is expected."""
    return [
        reader.records(EXPECTED_DATA, dataset=["a/d", "B/d"]),
        reader.due_records(EXPECTED_DATA, now, 2),
        reader.due_records(EXPECTED_DATA, None, 2),
        reader.records(EXPECTED_PERIODS, dataset="a/d", period=["", "ä"]),
        reader.late_periods(LateWanted(), 2),
        reader.late_periods(LateWanted(), MANY),
        reader.late_periods(LateWanted(apps=("a",), now=True), MANY),
        reader.late_periods(LateWanted(dataset="a/d"), MANY),
        reader.records(LATE_TOTALS, name=["a/d", "a/s"]),
        reader.late_jobs(),
    ]
