"""The protocols of what a store knows of maintenance; see `scheduler.store.protocol`."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import OperationRun, Record, TableState


class MaintenanceRows(Protocol):
    """Reads tables, records and runs of operations; what a poll asks is answered by an index."""

    def tables(self, *, names: Collection[str] | None = None) -> tuple[TableState, ...]:
        """Tables, by name; all, or those of `names` that the store knows."""
        ...

    def tables_wanted(self, limit: int) -> tuple[TableState, ...]:
        """Tables that are to be measured (`wanted_at`), the longest wanted first, then name."""
        ...

    def records(self, *, tables: Collection[str] | None = None) -> tuple[Record, ...]:
        """Records, by table, then operation as text, then policy; all, or those of some tables."""
        ...

    def due_records(self, now: datetime, limit: int) -> tuple[Record, ...]:
        """Records whose `next_look` has come, earliest first, then table, operation as text and policy."""
        ...

    def next_maintenance(self) -> datetime | None:
        """The earliest `next_look` of all records and `closes_at` of all runs that have not ended."""
        ...

    def operation_runs(
        self,
        *,
        jobs: Collection[str] | None = None,
        tables: Collection[str] | None = None,
        running: bool = False,
        started_since: datetime | None = None,
        before: tuple[datetime, str] | None = None,
        limit: int | None = None,
    ) -> tuple[OperationRun, ...]:
        """Runs that match all given filters, by start, then job; with a limit the newest ones.

        Args:
            running: only those that have not ended.
            before: only those that come before this start and job.
        """
        ...

    def bytes_rewritten(self, since: datetime, until: datetime) -> int:
        """The bytes of all runs that ended in [since, until)."""
        ...

    def writing_jobs(self, app: str) -> tuple[Job, ...]:
        """The jobs of an app's schedules that wait for their constraints or a run, or run, by id."""
        ...

    def keys_written(self, dataset: str) -> tuple[str, ...]:
        """The keys of a dataset ("app/dataset") that came or were written, sorted."""
        ...


class MaintenanceChanges(MaintenanceRows, Protocol):
    """Changes tables, records and runs of operations."""

    def put_tables(self, tables: Sequence[TableState]) -> None:
        """Create or replace tables."""
        ...

    def put_records(self, records: Sequence[Record]) -> None:
        """Create or replace records."""
        ...

    def delete_records(self, records: Sequence[Record]) -> None:
        """Remove records, by key."""
        ...

    def put_operation_runs(self, runs: Sequence[OperationRun]) -> None:
        """Create or replace runs of operations."""
        ...
