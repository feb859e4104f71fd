"""The snapshots that must not expire, each with the reason.

    unfinished commit    the snapshot at the begin of its run and all after it (what others have changed since
                         then decides whether it may publish), and the one that it has published
    watermark            all snapshots after the position: the next run reads what they have appended
    tag, branch          the snapshot that it names

What comes after a snapshot is always needed as a whole, since readers follow the history without gaps.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import Watermark
from tidegate.spark_jobs.commit.finish import read_sequence
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import CommitUnknown
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.iceberg.new_rows import WHOLE, SnapshotPosition
from tidegate.spark_jobs.iceberg.steps.publish_iceberg import PublishIceberg
from tidegate.spark_jobs.iceberg.table.table import log_of


def needed_by_refs(table: Any) -> dict[int, str]:
    """Return the snapshots that tags and branches name."""
    refs = table.refs()
    found: dict[int, str] = {}
    for name in each(refs.keySet()):
        ref = refs.get(name)
        kind = "the branch" if ref.isBranch() else "the tag"
        found.setdefault(int(ref.snapshotId()), f"{kind} {name}")
    return found


def needed_by_commits(
    store: CommitStepStore, ref: DatasetRef, table: Any, history: Sequence[int]
) -> dict[int, str]:
    """Return the snapshots that unfinished commits into a dataset need."""
    found: dict[int, str] = {}
    log = log_of(table)
    for commit in store.list_unfinished(ref.id):
        body, why = store.get(commit), f"the unfinished commit {commit}"
        if body is None:
            continue
        try:
            steps = read_sequence(commit, body).steps
        except CommitUnknown:
            found |= _since(history, None, f"{why}, which this version cannot read")
            continue
        for step in steps:
            if isinstance(step, PublishIceberg) and step.table == ref.place:
                published = log.find(step.commit)
                if published is not None:
                    found.setdefault(published.snapshot, why)
                found |= _since(history, None if step.state is None else step.state.snapshot, why)
    return found


def needed_by_readers(store: CommitStepStore, ref: DatasetRef, history: Sequence[int]) -> dict[int, str]:
    """Return the snapshots that the next incremental reads of a dataset need."""
    found: dict[int, str] = {}
    for consumer, source in store.followers():
        if source != ref.id:
            continue
        why = f"{consumer} has not read it yet"
        for position in _oldest_positions(read_up_to(store.watermarks(consumer, source)), history):
            found |= _after(history, position, why)
    return found


def read_up_to(marks: Mapping[str, Watermark]) -> dict[str, int]:
    """Return the snapshot up to which a consumer has read each part, given its watermarks.

    Left out are parts that begin again, and positions of a module of the user, which are not snapshots.
    """
    found: dict[str, int] = {}
    for part, mark in marks.items():
        with suppress(msgspec.DecodeError):
            found[part] = msgspec.json.decode(mark.position, type=SnapshotPosition).snapshot
    return found


def _oldest_positions(positions: Mapping[str, int], history: Sequence[int]) -> Iterable[int]:
    """Return the position that all reads need no snapshot before; none without positions in the history.

    The position of the whole applies to every part without a later one of its own.
    """
    places = {one: place for place, one in enumerate(history)}
    floor = places.get(positions.get(WHOLE, 0))
    known = [places[one] for part, one in positions.items() if part != WHOLE and one in places]
    oldest = floor if floor is not None else max(known, default=None)
    return () if oldest is None else (history[oldest],)


def _since(history: Sequence[int], snapshot: int | None, why: str) -> dict[int, str]:
    """Return a snapshot and all after it; all of them if it is not in the history, or not known."""
    return dict.fromkeys(_newer(history, snapshot, inclusive=True), why)


def _after(history: Sequence[int], snapshot: int, why: str) -> dict[int, str]:
    return dict.fromkeys(_newer(history, snapshot, inclusive=False), why)


def _newer(history: Sequence[int], snapshot: int | None, *, inclusive: bool) -> Iterator[int]:
    for one in history:
        if one != snapshot or inclusive:
            yield one
        if one == snapshot:
            return
