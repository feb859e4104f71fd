"""What alerts and retention change in a schedule store. SQL stores have it, the one in memory does not."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.retention import LedgerSum, Snapshot
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.protocol import EngineTransaction, Store


class UpkeepTransaction(EngineTransaction, ListingReader, Protocol):
    """Changes the store, and prunes it."""

    def drop_old(self, kind: Kind[Any], before: datetime, limit: int) -> int:
        """Remove records that were over before an instant, the oldest first; return how many.

        An alert is over when it has ended, a report of partitions when it is not owed, a period when it was
        due, of those that were late.
        """
        ...

    def drop_jobs(self, ids: Collection[str]) -> None:
        """Remove jobs with their claims, recorded edges and runs of operations.

        Their deliveries stay until their events go: what a run has consumed is not collected again by
        `collect_existing` (see `pruned`). The caller adds what the ledger counts of them to the
        sums.
        """
        ...

    def forget_events(self, ids: Collection[str]) -> int:
        """Remove events with their deliveries, and remember their ids; return the number of deliveries."""
        ...

    def forget_runs(self, ids: Collection[str]) -> None:
        """Remove runs, and remember their ids."""
        ...

    def drop_journal(self, numbers: Collection[int]) -> None:
        """Remove entries of the journal."""
        ...

    def add_sums(self, sums: Iterable[LedgerSum]) -> None:
        """Add to the sums of the ledger."""
        ...

    def put_snapshot(self, snapshot: Snapshot) -> None:
        """Store a snapshot; one of the same number is replaced."""
        ...

    def drop_snapshots(self, numbers: Sequence[int]) -> None:
        """Remove snapshots."""
        ...


class UpkeepStore(Store, Protocol):
    """A schedule store in a database."""

    def changes(self) -> int:
        """Return how many transactions have changed anything but the clock of the engine."""
        ...

    def reading(self) -> AbstractContextManager[ListingReader]:
        """Open one consistent state for reading."""
        ...

    def transaction(self) -> AbstractContextManager[UpkeepTransaction]:
        """Open the only transaction that may change the store; waits for an open one."""
        ...

    def rehearsal(self) -> AbstractContextManager[UpkeepTransaction]:
        """Open such a transaction of which nothing is kept; it waits for an open one for a moment only.

        Raises:
            StoreBusy: another one was open all that time.
        """
        ...
