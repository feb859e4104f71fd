"""Commits rewritten files: one snapshot replaces the old files of a slice, if they are still in the table.

    load the table ─► newest state ─► replace files ─► compare and swap
         ▲                                 │ old files were removed, or rows of them deleted, by other commits
         │                                 └─► without the groups that they belong to ─┐
         └──────── another commit came first ◄────────────────────────────────────────┘

Appends of others are never in the way. Where another writer has replaced or deleted rows, only the groups
with those files are lost: so partitions in which nothing else happens are compacted beside one that is always
written.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JJavaError

from tidegate.spark_jobs.iceberg.catalog.failures import IcebergFailure, StaleTable
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable, is_lost_race
from tidegate.spark_jobs.maintenance.iceberg.history import since
from tidegate.spark_jobs.maintenance.iceberg.rewriter import Rewritten
from tidegate.spark_jobs.maintenance.progress import LostRace

LABEL = "tidegate.maintenance"
"""In the summary of a snapshot: which job has made it, and which of its commits this is."""
SWAP_TRIES = 100
"""How many times in a row another commit may change the table before a slice is lost."""
EQUALITY_DELETES = "EQUALITY_DELETES"


@dataclass(frozen=True, kw_only=True, slots=True)
class Committed:
    """The outcome of a slice: the groups that were committed, and those that others have changed."""

    done: Sequence[Rewritten] = ()
    lost: Sequence[Rewritten] = ()


def commit_slice(table: CatalogTable, start: Any, rewritten: Sequence[Rewritten], job: str) -> Committed:
    """Commit the groups of a slice in which no row was changed since they were planned.

    Args:
        start: the snapshot that they were planned for.

    Raises:
        IcebergFailure: the catalog has failed, and the table does not show the commit.
    """
    left, label = list(rewritten), f"{job} {uuid.uuid4().hex}"
    for _ in range(SWAP_TRIES):
        java = table.load()
        left = _unchanged(java, start, left)
        if not left:
            break
        try:
            table.swap(_replaced(java, start, left, label))
        except StaleTable:
            # A client that tries again after a lost answer is in conflict with its own first try.
            if not _has(table, start, label):
                continue
        except LostRace:
            break
        except IcebergFailure:
            if not _has(table, start, label):
                # It may still happen, so the new files stay; if it does not, they are orphans.
                raise
        kept = {id(one) for one in left}
        return Committed(done=left, lost=[one for one in rewritten if id(one) not in kept])
    return Committed(lost=rewritten)


def _replaced(java: Any, start: Any, rewritten: Sequence[Rewritten], label: str) -> Any:
    """Return the transaction that replaces the files."""
    transaction = java.newTransaction()
    with _lost_races():
        change = transaction.newRewrite().validateFromSnapshot(start.snapshotId())
        # Rows that are deleted later by conditions are deleted in the new files too.
        change.dataSequenceNumber(start.sequenceNumber())
        for one in rewritten:
            for file in one.removed:
                change.deleteFile(file)
            for file in one.deletes:
                change.deleteFile(file)
            for file in one.added:
                change.addFile(file)
        change.set(LABEL, label)
        change.commit()
    return transaction


def _unchanged(java: Any, start: Any, rewritten: list[Rewritten]) -> list[Rewritten]:
    """Return the groups of which no file was removed, and no row deleted, since they were planned."""
    removed, touched = set[str](), set[tuple[int, str]]()
    for snapshot in since(java, int(start.snapshotId())):
        if snapshot.operation() == "append":
            continue
        removed |= {str(file.location()) for file in each(snapshot.removedDataFiles(java.io()))}
        deletes = (file for file in each(snapshot.addedDeleteFiles(java.io())))
        touched |= _places(java, (f for f in deletes if f.content().name() != EQUALITY_DELETES))
    if not removed and not touched:
        return rewritten
    return [one for one in rewritten if not _is_touched(java, one, removed, touched)]


def _is_touched(java: Any, one: Rewritten, removed: set[str], touched: set[tuple[int, str]]) -> bool:
    files = one.removed
    return any(str(file.location()) in removed for file in files) or bool(_places(java, files) & touched)


def _places(java: Any, files: Iterable[Any]) -> set[tuple[int, str]]:
    specs = java.specs()
    return {
        (int(file.specId()), str(specs.get(file.specId()).partitionToPath(file.partition())))
        for file in files
    }


def _has(table: CatalogTable, start: Any, label: str) -> bool:
    """Return whether a commit with this label is in the table, although its answer does not say so."""
    newer = since(table.load(), int(start.snapshotId()))
    return any(one.summary().get(LABEL) == label for one in newer)


@contextmanager
def _lost_races() -> Iterator[None]:
    try:
        yield
    except Py4JJavaError as error:
        if is_lost_race(error):
            raise LostRace(str(error.java_exception.getMessage())) from error
        raise
