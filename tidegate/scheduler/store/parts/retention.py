"""The protocols of retention; see `scheduler.store.protocol`.

Old rows are read in pages by the index of their instants. So a slice of the work costs its own rows, and not
what the store holds. Names of pruned events and runs stay: a fact that is reported again stays one fact.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.domain.value import Value
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.retention import LedgerSum, OldEvent, OldJob, OldRun, OpenInstance, Snapshot
from tidegate.scheduler.model.run import Launched

Position = tuple[datetime, str]
"""The instant and the id of the last row of a page."""


class Numbered(Value, kw_only=True):
    """An entry of the journal with its number."""

    number: int
    entry: Entry


class TableSize(Value, kw_only=True):
    """How large a table of the store is.

    Attributes:
        bytes: with its indexes; None where the database does not say.
        oldest: the oldest instant in it; None for an empty table, or one without instants.
    """

    table: str
    rows: int
    bytes: int | None
    oldest: datetime | None


class RetentionRows(Protocol):
    """Reads what may be pruned, and what was."""

    def known_events(self, ids: Collection[str]) -> frozenset[str]:
        """Those of these events (ids) that the store has, or has pruned."""
        ...

    def pruned_runs(self, ids: Collection[str]) -> frozenset[str]:
        """Those of these runs (ids) that were pruned."""
        ...

    def pruned_discards(self, ids: Collection[str]) -> frozenset[str]:
        """Those of these jobs (ids) that were pruned and had been discarded."""
        ...

    def old_jobs(self, before: datetime, after: Position | None, limit: int) -> tuple[OldJob, ...]:
        """Jobs in any state that were opened before an instant, by `opened_at`, then id, after a position."""
        ...

    def open_instances(self) -> tuple[OpenInstance, ...]:
        """The instances that have not ended, by task, backfill and scheduled time."""
        ...

    def next_real(self, task: str, number: int, scheduled: datetime) -> datetime | None:
        """The scheduled time of a task's next instance of a backfill, past empty ones and discarded ones."""
        ...

    def tasks_waiting_for(self, task: str) -> tuple[str, ...]:
        """The schedules that listen to a task, sorted."""
        ...

    def old_events(self, before: datetime, after: Position | None, limit: int) -> tuple[OldEvent, ...]:
        """Events that arrived before an instant, by arrival, then id, after a position."""
        ...

    def events_ahead(self, now: datetime) -> tuple[Event, ...]:
        """The events that arrived after an instant, by arrival, then id."""
        ...

    def old_runs(self, before: datetime, after: Position | None, limit: int) -> tuple[OldRun, ...]:
        """Runs that were seen before an instant, by `seen_at`, then id, after a position."""
        ...

    def old_launches(self, before: datetime, limit: int) -> tuple[str, ...]:
        """The holders of launches before an instant, oldest first."""
        ...

    def events_of_jobs(self, jobs: Collection[str]) -> tuple[LedgerSum, ...]:
        """What the ledger counts of some finished jobs, by the day on which each ended."""
        ...

    def events_without_job(self, events: Collection[str]) -> tuple[LedgerSum, ...]:
        """What the ledger counts of events (ids) that were discarded on arrival, by the day of that."""
        ...

    def journal_page(
        self, after: int, limit: int, *, until: int | None = None, to: datetime | None = None
    ) -> tuple[Numbered, ...]:
        """Entries with a number after one, in order.

        Args:
            until: the last number.
            to: only entries of this instant and earlier ones.
        """
        ...

    def renames(self) -> tuple[Numbered, ...]:
        """The entries of renames, in order."""
        ...

    def journal_ends(self) -> tuple[int, int]:
        """The numbers of the first and the last entry; (0, 0) for an empty journal."""
        ...

    def snapshot(self, at: datetime | None = None) -> Snapshot | None:
        """The newest snapshot whose instant is not after `at`; without `at` the newest of all."""
        ...

    def snapshots(self) -> tuple[tuple[int, datetime], ...]:
        """Number and instant of each snapshot, oldest first."""
        ...

    def slot_holders(self) -> dict[str, tuple[str, ...]]:
        """The resources of which each holder has a slot, sorted."""
        ...

    def launched_since(self, since: datetime) -> tuple[Launched, ...]:
        """The launches after an instant, by instant and holder."""
        ...

    def newest_job(self, schedule: str, at: datetime) -> Job | None:
        """The job of a schedule that was opened last, at an instant or before."""
        ...

    def sizes(self) -> tuple[TableSize, ...]:
        """The size of each table, by name."""
        ...


class RetentionChanges(RetentionRows, Protocol):
    """Prunes rows."""

    def drop_jobs(self, ids: Collection[str]) -> None:
        """Remove jobs with their claims, recorded edges and runs of operations.

        Their deliveries stay until their events go: what a run has consumed is not collected again by
        `collect_existing` (see `pruned_discards`). The caller adds what the ledger counts of them to the
        sums.
        """
        ...

    def forget_events(self, ids: Collection[str]) -> int:
        """Remove events with their deliveries, and remember their ids; return the number of deliveries."""
        ...

    def take_back_events(self, ids: Collection[str]) -> int:
        """Remove events with their deliveries, as if they had never come; return the number of deliveries."""
        ...

    def set_back(self, now: datetime) -> None:
        """Let what happened to jobs, runs, launches, gauges and arrivals of events ahead be of now.

        So are alerts, and what they wait for.
        """
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
