"""What Hypothesis draws for deliveries and the counts of jobs, and the questions about them; see `drawn`."""

from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from tests.worlds.samples import at, delivery, event
from tidegate.scheduler.model.records.tally import KeptTally, LeafTally, Tally
from tidegate.scheduler.store.engine_reader import EngineReader

ids = st.sampled_from(["a", "B", "b", "b0", "ä", "_", "a/b", "Z%"])
refs = st.sampled_from(["a/s", "a/t", "a/S", "ab/s", "b/s"])
leaves = st.sampled_from(["", "0"])
instants = st.integers(0, 4).map(at)
maybe_instants = st.none() | instants

deliveries = st.builds(
    delivery,
    ids.map(event),
    refs,
    leaves,
    job=st.none() | ids,
    reason=st.none() | st.just("D-EXPIRED"),
    at=instants,
)

tallies = st.builds(
    KeptTally,
    job=ids,
    basis=st.sampled_from(["x", "y"]),
    tally=st.builds(
        Tally,
        leaves=st.dictionaries(
            leaves,
            st.builds(LeafTally, first=instants, newest=instants, counted=maybe_instants),
            max_size=2,
        ),
        last=st.dictionaries(leaves, instants, max_size=2),
        through=maybe_instants,
        events=st.integers(0, 3),
    ),
)
tallied_keys = st.dictionaries(
    st.tuples(leaves, st.sampled_from(["k", "K", "ä"])), st.integers(0, 2**40), max_size=3
)

ARGUMENTS: dict[str, tuple[st.SearchStrategy[Any], ...]] = {
    "put_tallies": (
        st.lists(tallies, max_size=4),
        st.dictionaries(ids, tallied_keys, max_size=3),
        st.lists(deliveries, max_size=4),
    ),
    "delete_tallies": (st.lists(ids, max_size=4),),
}
"""What each method is called with."""


def answers(reader: EngineReader, now: datetime) -> list[Any]:
    """What a reader says to every question."""
    names = ["a", "B", "b", "ä", "a/b", "none"]
    return [
        reader.tallies(names),
        [reader.tallied_keys(name, ["k", "K"]) for name in names],
        [reader.counted_keys(name, leaf) for name in names for leaf in ("", "0")],
        [reader.reports(name) for name in names],
        [reader.counted_events(name, leaf, at(0), 2) for name in names for leaf in ("", "0")],
        [reader.newest_counted(name, leaf, now) for name in names for leaf in ("", "0")],
    ]
