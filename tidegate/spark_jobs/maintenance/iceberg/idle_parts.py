"""Moves watermarks past snapshots that have brought nothing to their part, so that those can expire.

    part 2013-12-22   read up to 1 ─► …2, 3, 4 touch only other days… ─► read up to 4
    part 2013-12-23   read up to 1 ─► …2 touches it ────────────────────► stays at 1, and 2 is kept

A program that reads each partition in the run of its own leaves the watermarks of old partitions where they
are. They would keep every later snapshot, without ever having anything to read. Moving such a watermark
changes nothing for its reader. It is a commit like a reset by hand: the store accepts it only while no run
has moved the same watermarks, and a consumer whose run is at work is left alone.
"""

import hashlib
import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from tidegate.domain.commit_store import CommitStepStore
from tidegate.domain.commits import Watermark
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.positions import set_watermarks
from tidegate.spark_jobs.commit.sequence import watermark_resource
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import CommitConflict, CommitFenced
from tidegate.spark_jobs.iceberg.catalog.catalog import catalog_of
from tidegate.spark_jobs.iceberg.new_rows import WHOLE, encode_position
from tidegate.spark_jobs.iceberg.table.changes import NO_ROW_CHANGED, History
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable
from tidegate.spark_jobs.maintenance.iceberg.history import Snapshots
from tidegate.spark_jobs.maintenance.iceberg.needed_snapshots import read_up_to
from tidegate.spark_jobs.maintenance.request import MaintenanceContext

MAX_MOVES = 1_000
"""Watermarks moved for one consumer at a time; each is a step of a commit. The next run moves others."""
DIGEST_DIGITS = 16

log = logging.getLogger(__name__)


def advance_idle_parts(
    table: CatalogTable,
    snapshots: Snapshots,
    ref: DatasetRef,
    context: MaintenanceContext,
    expirable: Collection[int],
) -> None:
    """Move the watermarks in a dataset that keep expirable snapshots for nothing.

    Args:
        snapshots: the state of the table that `expirable` belongs to.
    """
    store = context.store
    assert store is not None, "a dataset has its watermarks in the store"
    assert context.warehouse is not None, "a dataset has a warehouse"
    consumers = [consumer for consumer, source in store.followers() if source == ref.id]
    if not consumers:
        return
    changes, known = History(catalog_of(table.spark), ref.dimensions()), snapshots.known()
    acting = CommitContext(files=context.warehouse.files, spark=context.spark)
    for consumer in consumers:
        if _is_at_work(store, watermark_resource(consumer, ref.id)):
            continue
        # Positions and their numbers are of one reading: a move that comes later makes the commit fail.
        marks = store.watermarks(consumer, ref.id)
        moves = _moves(changes, snapshots.table, known, read_up_to(marks), expirable)
        if moves:
            _publish(store, acting, (consumer, ref.id), marks, moves)


def _is_at_work(store: CommitStepStore, resource: str) -> bool:
    return bool(store.list_unfinished(resource)) or any(
        resource in attempt.datasets for attempt in store.attempts()
    )


def _moves(
    changes: History,
    java: Any,
    history: Sequence[int],
    read: Mapping[str, int],
    expirable: Collection[int],
) -> dict[str, int]:
    """Return the new position of each part that can be moved past expirable snapshots, the oldest first."""
    places = {one: place for place, one in enumerate(history)}
    known = {part: places[one] for part, one in read.items() if one in places}
    floor = known.get(WHOLE)
    if floor is not None:
        # Where the whole was read further than a part, the part has no position of its own any more.
        known = {part: place for part, place in known.items() if place <= floor}
    if not known:
        return {}
    oldest = max(known.values())
    touched = _touched(changes, java, history[oldest], known)
    found: dict[str, int] = {}
    for part, place in sorted(known.items(), key=lambda one: -one[1]):
        first = max((at for at in touched.get(part, ()) if at < place), default=-1)
        if any(history[at] in expirable for at in range(first + 1, place)):
            found[part] = history[first + 1]
    return dict(list(found.items())[:MAX_MOVES])


def _touched(changes: History, java: Any, snapshot: int, parts: Mapping[str, int]) -> dict[str, list[int]]:
    """Return the places in the history at which each part was touched after a snapshot."""
    found: dict[str, list[int]] = {}
    keys = [part for part in parts if part != WHOLE]
    for place, change in enumerate(changes.since(java, snapshot)):
        if change.kind != NO_ROW_CHANGED:
            for part in (WHOLE, *changes.touched(java, change, keys)):
                found.setdefault(part, []).append(place)
    return found


def _publish(
    store: CommitStepStore,
    context: CommitContext,
    follower: tuple[str, str],
    marks: Mapping[str, Watermark],
    moves: Mapping[str, int],
) -> None:
    consumer, source = follower
    numbers = {part: marks[part].number + 1 for part in moves}
    content = msgspec.json.encode([consumer, source, numbers, dict(moves)], order="sorted")
    commit = f"idle-{hashlib.sha256(content).hexdigest()[:DIGEST_DIGITS]}"
    steps = [
        SetWatermark(
            consumer=consumer,
            source=source,
            part=part,
            number=numbers[part],
            position=encode_position(snapshot),
            commit=commit,
        )
        for part, snapshot in moves.items()
    ]
    try:
        set_watermarks(store, context, steps)
    except (CommitConflict, CommitFenced) as error:
        log.info("watermarks of %s in %s stay: %s", consumer, source, error)
