"""What Hypothesis draws for overrides, and the questions that are asked about them; see `drawn`."""

from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from tests.worlds.samples import at, schedule
from tidegate.scheduler.model.records.override import OVERRIDES, Override
from tidegate.scheduler.store.engine_reader import EngineReader

instants = st.integers(0, 4).map(at)
overrides = st.builds(
    Override,
    ref=st.sampled_from(["a/s", "a/S", "ab/s", "a", "ä"]),
    kind=st.sampled_from(["status", "specification", "deleted", "held"]),
    owner=st.sampled_from(["cli:ä", "rest"]),
    reason=st.sampled_from(["", "late\n"]),
    since=instants,
    expires_at=st.none() | instants,
    spec=st.none() | st.just(schedule("a/s").spec),
    status=st.sampled_from([None, "active", "suspended"]),
)


def answers(reader: EngineReader, now: datetime) -> list[Any]:
    """What a reader says to every question about overrides."""
    return [
        reader.records(OVERRIDES, app="a"),
        reader.records(OVERRIDES, ref=["a/s", "ä", "none"]),
        reader.records(OVERRIDES, app="a", ref=["a/S", "ab/s"]),
        reader.due_records(OVERRIDES, now, 2),
        reader.due_records(OVERRIDES, at(9), 100),
    ]
