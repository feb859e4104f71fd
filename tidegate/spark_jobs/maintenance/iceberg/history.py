"""The snapshots of a table, as maintenance decides about them: a history, the newest first, or all of them.

A snapshot of the history was current until its child was committed. That counts for its age, not its own
time: so every state of the last days can be read, also by a run that began with it, and the last state before
them. Each snapshot costs a few calls to the JVM, so those of a state are read once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from tidegate.spark_jobs.iceberg.catalog.java_texts import each

MAX_SNAPSHOTS = 100_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """A snapshot.

    Attributes:
        until_ms: until when it was current, milliseconds since 1970 UTC; None for the current one.
        java: Iceberg's own object.
    """

    id: int
    until_ms: int | None
    java: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshots:
    """The snapshots of a table in one state.

    Attributes:
        table: Iceberg's own object.
        history: the current snapshot and those before it, as far as they exist.
        committed: when each snapshot was committed, in milliseconds since 1970 UTC, by id.
    """

    table: Any
    history: tuple[Snapshot, ...]
    committed: Mapping[int, int]

    def known(self) -> list[int]:
        """Return the ids of the history, the newest first, with the expired parent of the oldest one.

        The parent is known by its child, so all snapshots after it are known.
        """
        parent = self.history[-1].java.parentId() if self.history else None
        return [*(one.id for one in self.history), *([int(parent)] if parent is not None else [])]


def read_snapshots(table: Any) -> Snapshots:
    """Return the snapshots of a table."""
    return Snapshots(
        table=table,
        history=tuple(ancestors(table, table.currentSnapshot())),
        committed={int(one.snapshotId()): int(one.timestampMillis()) for one in each(table.snapshots())},
    )


def ancestors(table: Any, snapshot: Any | None) -> Iterator[Snapshot]:
    """Yield a snapshot and those before it, as far as they exist."""
    until: int | None = None
    for _ in range(MAX_SNAPSHOTS):
        if snapshot is None:
            return
        yield Snapshot(id=int(snapshot.snapshotId()), until_ms=until, java=snapshot)
        until, parent = int(snapshot.timestampMillis()), snapshot.parentId()
        snapshot = None if parent is None else table.snapshot(parent)


def since(table: Any, snapshot: int) -> Iterator[Any]:
    """Yield the snapshots after one, the newest first, as Iceberg's own objects; as far as they exist."""
    newer = takewhile(lambda one: one.id != snapshot, ancestors(table, table.currentSnapshot()))
    return (one.java for one in newer)
