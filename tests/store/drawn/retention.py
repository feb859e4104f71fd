"""What Hypothesis draws for retention, and the questions that are asked about it; see `drawn`."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from tests.worlds.samples import at
from tidegate.scheduler.decision.retention import RATES
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.retention import LedgerSum, PrunedKind, Snapshot
from tidegate.scheduler.store.engine_reader import EngineReader

NAMES = ["a", "B", "b", "b0", "ä", "_", "a/b", "Z%"]
AFTER = (at(1), "b")
MANY = 100

ids = st.lists(st.sampled_from(NAMES), max_size=4)
sums = st.builds(
    LedgerSum,
    schedule=st.sampled_from(["a/s", "a/t", "B/s"]),
    day=st.dates(datetime(2026, 3, 9, tzinfo=UTC).date(), datetime(2026, 3, 10, tzinfo=UTC).date()),
    outcome=st.sampled_from(["succeeded", "failed", "discarded"]),
    reason=st.sampled_from(["", "F-RUN"]),
    events=st.integers(1, 2**40),
)
snapshots = st.builds(
    Snapshot, number=st.integers(0, 3), at=st.integers(0, 4).map(at), state=st.binary(max_size=3)
)

ARGUMENTS: dict[str, tuple[st.SearchStrategy[Any], ...]] = {
    "drop_jobs": (ids,),
    "forget_events": (ids,),
    "take_back_events": (ids,),
    "set_back": (st.integers(0, 4).map(at),),
    "forget_runs": (ids,),
    # A database may leave out numbers, so the one that is dropped never exists.
    "drop_journal": (st.just([10**9]),),
    "add_sums": (st.lists(sums, max_size=3),),
    "put_snapshot": (snapshots,),
    "drop_snapshots": (st.lists(st.integers(0, 3), max_size=2),),
}


def answers(reader: EngineReader, now: datetime) -> list[Any]:
    """What a reader says to every question about retention."""
    return [
        [reader.pruned(kind, NAMES) for kind in PrunedKind],
        reader.events(ids=NAMES, after=at(1), limit=None),
        reader.old_jobs(now, None, MANY),
        reader.old_jobs(at(9), AFTER, 2),
        reader.open_instances(),
        reader.next_real("a/s", 0, at(0)),
        reader.next_real("a/t", 1, now),
        reader.old_events(now, None, MANY),
        reader.old_events(at(9), AFTER, 2),
        reader.old_runs(now, None, MANY),
        reader.old_runs(at(9), AFTER, 2),
        reader.old_launches(now, 2),
        reader.constraints(RATES),
        reader.events_of_jobs(NAMES),
        reader.events_without_job(NAMES),
        [each.entry for each in reader.journal_page(first=MANY, to=now)],
        [each.entry for each in reader.journal_page(kinds=[EntryKind.RENAME])],
        reader.slot_holders(),
        reader.launched_since(at(1)),
        reader.snapshot(),
        reader.snapshot(now),
        reader.snapshots(),
    ]
