"""The operation expire_snapshots: removes old snapshots, and the files that no other snapshot needs.

    history ─► expirable: too old, beyond `retain_last` ─► without the needed ones ─► commit ─► delete files

Which snapshots go is decided here and given to Iceberg by their ids, since it knows nothing of commits and
watermarks. A snapshot is as old as the time since it was current (`history`). A run that dies after the
commit leaves files that no snapshot has; remove_orphan_files takes them.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import IllegalArgumentException

from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable, is_lost_race
from tidegate.spark_jobs.maintenance.iceberg.history import Snapshots, ancestors, read_snapshots
from tidegate.spark_jobs.maintenance.iceberg.idle_parts import advance_idle_parts
from tidegate.spark_jobs.maintenance.iceberg.needed_snapshots import (
    needed_by_commits,
    needed_by_readers,
    needed_by_refs,
)
from tidegate.spark_jobs.maintenance.kept import among_the_last, counted, younger_than
from tidegate.spark_jobs.maintenance.progress import RACE_TRIES, LostRace, MaintenanceRefused, Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest

SHOWN_SNAPSHOTS = 100
"""Kept snapshots that the results name."""
GARBAGE_COLLECTION = "gc.enabled"


def expire_snapshots(
    table: CatalogTable, request: OperationRequest, context: MaintenanceContext, progress: Progress
) -> None:
    """Expire the old snapshots of a table.

    Raises:
        LostRace: other writers were faster each time.
        MaintenanceRefused: a branch has an expiry of its own, which would take needed snapshots.
        TimedOut, Yielded: before it began.
    """
    progress.add(snapshots_expired=0)
    failure: Exception | None = None
    for _ in range(RACE_TRIES):
        progress.pause()
        java = table.load()
        if not collects_garbage(java):
            progress.not_applicable(f"{GARBAGE_COLLECTION} of the table is false")
            return
        snapshots = read_snapshots(java)
        expirable = _expirable(snapshots, request, context.clock.now())
        if expirable and request.table.ref is not None:
            advance_idle_parts(table, snapshots, request.table.ref, context, expirable)
        needed = _needed(snapshots, request, context)
        kept = {one: needed[one] for one in expirable if one in needed}
        _show(kept, progress)
        progress.results |= counted(
            staying(snapshots, expirable, kept, _retained(request), float(request.options["older_than"]))
        )
        gone = sorted(expirable - kept.keys())
        if not gone:
            return
        try:
            _refuse_other_expiry(snapshots, gone, needed)
            action = _commit(table, java, gone)
        except (IllegalArgumentException, Py4JJavaError) as error:
            outdated = isinstance(error, IllegalArgumentException) and _is_outdated(table, gone)
            if not outdated and not is_lost_race(error):
                raise
            failure = error
        else:
            progress.add(snapshots_expired=len(gone))
            _delete_files(action, progress)
            return
    raise LostRace(f"other writers changed the snapshots {RACE_TRIES} times in a row") from failure


def collects_garbage(java: Any) -> bool:
    """Return whether files of a table may be removed; its files may belong to another table otherwise."""
    return str(java.properties().get(GARBAGE_COLLECTION) or "true").lower() == "true"


def _expirable(snapshots: Snapshots, request: OperationRequest, now: datetime) -> set[int]:
    """Return the snapshots that are old enough, and beyond the number that is kept, in every branch."""
    older_than = float(request.options["older_than"])
    cutoff = (now.timestamp() - older_than) * 1000
    retain = _retained(request)
    expirable = {one for one, time in snapshots.committed.items() if time <= cutoff}
    java, history = snapshots.table, snapshots.history
    refs = java.refs()
    for name in each(refs.keySet()):
        if not refs.get(name).isBranch():
            continue
        head = int(refs.get(name).snapshotId())
        is_current = bool(history) and head == history[0].id
        for place, one in enumerate(history if is_current else ancestors(java, java.snapshot(head))):
            if place < retain or one.until_ms is None or one.until_ms > cutoff:
                expirable.discard(one.id)
    return expirable


def _retained(request: OperationRequest) -> int:
    return max(1, int(request.options["retain_last"]))


def _needed(snapshots: Snapshots, request: OperationRequest, context: MaintenanceContext) -> dict[int, str]:
    """Return the snapshots that must stay, with the reason that is worth showing."""
    ref, store = request.table.ref, context.store
    needed = needed_by_refs(snapshots.table)
    if ref is not None:
        assert store is not None, "a dataset has its commits and watermarks in the store"
        known = snapshots.known()
        needed = needed_by_readers(store, ref, known) | needed
        needed = needed_by_commits(store, ref, snapshots.table, known) | needed
    return needed


def _show(kept: Mapping[int, str], progress: Progress) -> None:
    # As text: a snapshot's id is larger than what JSON can say exactly everywhere.
    progress.results["kept"] = {str(one): why for one, why in sorted(kept.items())[:SHOWN_SNAPSHOTS]}
    progress.results["snapshots_kept"] = len(kept)


def _refuse_other_expiry(snapshots: Snapshots, gone: list[int], needed: Mapping[int, str]) -> None:
    """Refuse if Iceberg would take needed snapshots too, by an age that a branch has been given."""
    transaction = snapshots.table.newTransaction()
    # The newest state: what other writers have removed meanwhile is not lost by this expiry.
    before = _ids(transaction.startMetadata())
    _change(transaction.expireSnapshots(), gone).cleanExpiredFiles(False).commit()
    lost = sorted((before - _ids(transaction.currentMetadata()) - frozenset(gone)) & needed.keys())
    if lost:
        raise MaintenanceRefused(
            f"a branch of {snapshots.table.name()} has a max-snapshot-age of its own, which would take "
            f"snapshot {lost[0]}, kept for: {needed[lost[0]]}",
            "remove it: ALTER TABLE … CREATE OR REPLACE BRANCH … without WITH SNAPSHOT RETENTION",
        )


def _is_outdated(table: CatalogTable, gone: list[int]) -> bool:
    """Return whether others have removed a snapshot meanwhile, or named it by a tag or a branch.

    Iceberg refuses to expire such a one, and does not call that a lost race.
    """
    java = table.load()
    return not _ids(java).issuperset(gone) or not needed_by_refs(java).keys().isdisjoint(gone)


def _ids(table: Any) -> set[int]:
    return {int(one.snapshotId()) for one in each(table.snapshots())}


def _commit(table: CatalogTable, java: Any, gone: list[int]) -> Any:
    """Remove snapshots from a table; return the action, which has listed the files that no other one has."""
    action = _change(table.actions().expireSnapshots(java), gone).option("stream-results", "true")
    with table.exclusive():
        action.expireFiles()
    return action


def _delete_files(action: Any, progress: Progress) -> None:
    result = action.execute()
    progress.add(
        data_files_deleted=int(result.deletedDataFilesCount()),
        delete_files_deleted=int(result.deletedPositionDeleteFilesCount())
        + int(result.deletedEqualityDeleteFilesCount()),
        manifests_deleted=int(result.deletedManifestsCount()) + int(result.deletedManifestListsCount()),
    )


def _change(change: Any, gone: list[int]) -> Any:
    for one in gone:
        change.expireSnapshotId(one)
    # Otherwise all that is older than five days would go too.
    return change.expireOlderThan(0)


def staying(
    snapshots: Snapshots, expirable: Collection[int], kept: Mapping[int, str], retain: int, older_than: float
) -> Iterator[tuple[int, str]]:
    """Yield each snapshot that stays with its reason, the oldest first.

    Args:
        expirable: those that are old enough, and beyond the last ones of every branch.
        kept: those of them that something needs, each with the reason.
        older_than: seconds.
    """
    last, times = _last(snapshots, retain), snapshots.committed
    for one in sorted(times, key=lambda one: (times[one], one)):
        if one in kept:
            yield one, kept[one]
        elif one not in expirable:
            yield one, among_the_last(retain) if one in last else younger_than(older_than)


def _last(snapshots: Snapshots, retain: int) -> set[int]:
    """Return the newest snapshots of each branch."""
    java = snapshots.table
    found = {one.id for one in snapshots.history[:retain]}
    refs = java.refs()
    for name in each(refs.keySet()):
        ref = refs.get(name)
        if ref.isBranch() and int(ref.snapshotId()) not in found:
            found |= {one.id for one in islice(ancestors(java, java.snapshot(ref.snapshotId())), retain)}
    return found
