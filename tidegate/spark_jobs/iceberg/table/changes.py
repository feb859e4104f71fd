"""The changes of an Iceberg table since a snapshot, and which of them a publish must not replace.

    at the run's begin ──► append ──► replace ──► overwrite ──► append = current
                           foreign    no row       ours, commit  ours, commit
                                      changed      c6            c7

A snapshot is ours if its summary has the id of a commit; any other one was made by another writer. Compaction
(the operation `replace`) changes no row. Snapshots that have expired are looked up in the earlier metadata
files. What remains unknown, and a table that was rolled back, count as a foreign change of every partition.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from tidegate.domain.model import OnForeign, WriteMode
from tidegate.domain.partition_key import SEPARATOR
from tidegate.spark_jobs.datasets.conflicts import foreign_change, read_and_written, same_keys
from tidegate.spark_jobs.errors import CommitConflict
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog
from tidegate.spark_jobs.iceberg.catalog.failures import IcebergFailure, StaleTable, java_failures
from tidegate.spark_jobs.iceberg.table.data_files import partition_values
from tidegate.spark_jobs.iceberg.table.lineage import MAX_SNAPSHOTS, earlier_metadata
from tidegate.spark_jobs.iceberg.table.table import SUMMARY_KEYS, added_files

SUMMARY_COMMIT, SUMMARY_MODE = "tidegate.commit", "tidegate.write"
NO_ROW_CHANGED = "replace"


class Change(NamedTuple):
    """A snapshot as a change of its parent.

    Attributes:
        id: snapshot id; 0 for changes that are not known.
        kind: Iceberg's operation.
        commit: our commit; "" for a foreign change.
        mode: the write mode of our commit.
        java: Iceberg's snapshot; None for changes that are not known.
    """

    id: int
    kind: str
    commit: str
    mode: str
    java: Any


NOT_KNOWN = Change(id=0, kind="", commit="", mode="", java=None)


class History:
    """The changes of one table. What a snapshot has touched is read once, however often it is asked."""

    def __init__(self, catalog: IcebergCatalog, dimensions: tuple[str, ...]) -> None:
        self._catalog = catalog
        self._dimensions = dimensions
        self._touched: dict[int, frozenset[str] | None] = {}

    def since(self, table: Any, snapshot: int) -> Iterator[Change]:
        """Yield the changes after a snapshot, the newest first; `NOT_KNOWN` last if there are others.

        Args:
            snapshot: its id; 0 for the beginning of the table.
        """
        current = table.currentSnapshot()
        wanted = 0 if current is None else int(current.snapshotId())
        places = chain((table,), earlier_metadata(self._catalog, table))
        place: Any | None = next(places)
        for _ in range(MAX_SNAPSHOTS):
            if wanted == snapshot:
                return
            found = place.snapshot(wanted) if wanted and place is not None else None
            while found is None and wanted and (place := next(places, None)) is not None:
                found = place.snapshot(wanted)
            if found is None:
                break
            yield _change(found)
            wanted = int(found.parentId() or 0)
        yield NOT_KNOWN

    def touched(self, table: Any, change: Change, keys: Collection[str]) -> tuple[str, ...]:
        """Return which of some partitions a change has touched, sorted; all of them if that is not known."""
        if change.id not in self._touched:
            self._touched[change.id] = self._partitions(table, change)
        found = self._touched[change.id]
        return tuple(sorted(keys if found is None else found & frozenset(keys)))

    def _partitions(self, table: Any, change: Change) -> frozenset[str] | None:
        if change.java is None or not self._dimensions or change.mode == "full":
            return None
        try:
            with java_failures(f"read snapshot {change.id}"):
                if change.commit:
                    return frozenset(json.loads(change.java.summary().get(SUMMARY_KEYS)))
                return frozenset(self._of_files(table, change.java))
        except (IcebergFailure, StaleTable, ValueError, TypeError):
            # Its manifests were removed by an expiry, or it has files of another partitioning.
            return None

    def _of_files(self, table: Any, snapshot: Any) -> Iterator[str]:
        io, spec = table.io(), table.spec().specId()
        for files in (
            snapshot.removedDataFiles(io),
            added_files(table, snapshot),
            snapshot.addedDeleteFiles(io),
            snapshot.removedDeleteFiles(io),
        ):
            for file in files:
                if file.specId() != spec:
                    raise ValueError("a file of another partitioning")
                yield SEPARATOR.join(partition_values(self._catalog, file, len(self._dimensions)))


class Replaced(NamedTuple):
    """What a publish replaces.

    Attributes:
        table: name of the table in SQL.
        commit: commit id of the publish.
        since: the snapshot at the begin of its run; 0 for none.
        keys: the partitions that it changes.
        whole: whether it replaces all others too.
    """

    table: str
    commit: str
    since: int
    keys: Collection[str]
    whole: bool
    mode: WriteMode
    reads: bool
    on_foreign: OnForeign


def find_conflict(
    history: History, table: Any, publish: Replaced, rows_differ: Callable[[Collection[str]], bool]
) -> CommitConflict | None:
    """Return the change since the run's begin that the publish would lose; None for none.

    Args:
        rows_differ: returns whether rows with the merge keys of the output are different in some partitions
            from what they were at the run's begin.
    """
    if publish.mode == "append" and not publish.reads:
        return None
    merged_beside: set[str] = set()
    for change in history.since(table, publish.since):
        if change.kind == NO_ROW_CHANGED or change.commit == publish.commit:
            continue
        where = ("",) if publish.whole else history.touched(table, change, publish.keys)
        if not where:
            continue
        if not change.commit:
            if publish.on_foreign == "refuse":
                return _foreign(publish, change, where)
        elif publish.reads:
            return read_and_written(publish.commit, publish.table, where, f"commit {change.commit}")
        elif publish.mode == "merge":
            if change.mode not in ("append", "merge"):
                return same_keys(publish.commit, publish.table, where)
            merged_beside.update(where)
    if merged_beside and rows_differ(merged_beside):
        return same_keys(publish.commit, publish.table, sorted(merged_beside))
    return None


def _change(snapshot: Any) -> Change:
    summary: Mapping[str, Any] = snapshot.summary()
    return Change(
        id=int(snapshot.snapshotId()),
        kind=str(snapshot.operation()),
        commit=str(summary.get(SUMMARY_COMMIT) or ""),
        mode=str(summary.get(SUMMARY_MODE) or ""),
        java=snapshot,
    )


def _foreign(publish: Replaced, change: Change, where: Collection[str]) -> CommitConflict:
    what = f"snapshot {change.id} ({change.kind}), which Tidegate has not written, has changed"
    if change is NOT_KNOWN:
        what = "it is not known which snapshots (expired, or rolled back) have changed"
    return foreign_change(publish.commit, publish.table, where, what)
