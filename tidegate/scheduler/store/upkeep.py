"""What alerts and retention change in a schedule store. SQL stores have it, the one in memory does not."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from tidegate.scheduler.model.records.alert import Alert, Incident
from tidegate.scheduler.model.retention import LedgerSum, Snapshot
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.protocol import EngineTransaction, Store


class UpkeepTransaction(EngineTransaction, ListingReader, Protocol):
    """Changes the store, and prunes it."""

    def put_incidents(self, incidents: Sequence[Incident]) -> None:
        """Create or replace incidents, by id."""
        ...

    def drop_incidents(self, ids: Collection[str]) -> None:
        """Remove incidents."""
        ...

    def put_alerts(self, alerts: Sequence[Alert]) -> None:
        """Create or replace alerts, by id."""
        ...

    def drop_alerts(self, before: datetime, limit: int) -> int:
        """Remove alerts that have ended before an instant, the oldest first; return how many."""
        ...

    def drop_late_periods(self, before: datetime, limit: int) -> int:
        """Remove periods that were due before an instant and late, the oldest first; return how many."""
        ...

    def drop_partitions_reports(self, before: datetime, limit: int) -> int:
        """Remove reports of before an instant that are not owed, the oldest first; return how many."""
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

    def drop_launches(self, holders: Collection[str]) -> None:
        """Remove launches."""
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

    def reading(self) -> AbstractContextManager[ListingReader]:
        """Open one consistent state for reading."""
        ...

    def transaction(self) -> AbstractContextManager[UpkeepTransaction]:
        """Open the only transaction that may change the store; waits for an open one."""
        ...
