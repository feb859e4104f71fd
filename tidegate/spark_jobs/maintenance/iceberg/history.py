"""The snapshots of a table, as maintenance decides about them: a history, the newest first, or all of them.

A snapshot of the history was current until its child was committed. That counts for its age, not its own
time: so every state of the last days can be read, also by a run that began with it, and the last state before
them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tidegate.spark_jobs.iceberg.catalog import each

MAX_SNAPSHOTS = 100_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """A snapshot.

    Attributes:
        operation: Iceberg's name of what it has done.
        until_ms: until when it was current, milliseconds since 1970 UTC; None for the current one.
        java: Iceberg's own object.
    """

    id: int
    operation: str
    until_ms: int | None
    java: Any


def ancestors(table: Any, snapshot: Any | None) -> Iterator[Snapshot]:
    """Yield a snapshot and those before it, as far as they exist."""
    until: int | None = None
    for _ in range(MAX_SNAPSHOTS):
        if snapshot is None:
            return
        yield Snapshot(
            id=int(snapshot.snapshotId()), operation=str(snapshot.operation()), until_ms=until, java=snapshot
        )
        until, parent = int(snapshot.timestampMillis()), snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)


def history_of(table: Any) -> list[int]:
    """Return the ids of the current history, the newest first, with the expired parent of the oldest one.

    The parent is known by its child, so all snapshots after it are known.
    """
    found = list(ancestors(table, table.currentSnapshot()))
    parent = found[-1].java.parentId() if found else None
    return [*(one.id for one in found), *([int(parent)] if parent is not None else [])]


def all_snapshots(table: Any) -> dict[int, int]:
    """Return when each snapshot of a table was committed, in milliseconds since 1970 UTC, by id."""
    return {int(one.snapshotId()): int(one.timestampMillis()) for one in each(table.snapshots())}
