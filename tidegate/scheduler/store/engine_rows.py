"""Parts of `EngineReader`, for functions that read one kind of row.

Kept counts belong to jobs that wait: a store removes those of a job with `put_jobs` once it waits no longer,
and with `remove_deliveries`, unless the caller counts on without what has left. Code that adds deliveries
advances the counts of their jobs, or removes them. Of a job whose events may stop counting, the counted
events are kept too, by leaf and arrival.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol, Unpack

from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import OperationRun, Record, TableState
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod, LateTotal
from tidegate.scheduler.model.records.tally import KeptTally
from tidegate.scheduler.store.wanted import LateWanted, OperationRunsWanted


class InstanceRows(Protocol):
    """Reads instances of tasks; each question is answered by an index."""

    def instances(
        self,
        tasks: Collection[str] | None = None,
        first: datetime | None = None,
        last: datetime | None = None,
        *,
        backfill: int = 0,
    ) -> tuple[Job, ...]:
        """The instances of tasks whose scheduled time is in [first, last], by scheduled time, then id.

        Args:
            tasks: "app/name"; None for all tasks of a backfill.
            backfill: the number of the backfill that they belong to; 0 for those of none.

        Returns:
            Instances that were not discarded.
        """
        ...

    def instance_before(self, task: str, scheduled: datetime, *, backfill: int = 0) -> Job | None:
        """The last instance of a task before a scheduled time, then by id; empty runs are passed over."""
        ...


class TallyRows(Protocol):
    """Reads the kept counts of waiting jobs."""

    def tallies(self, jobs: Collection[str]) -> dict[str, KeptTally]:
        """The kept counts of those of these jobs (ids) that have some."""
        ...

    def tallied_keys(self, job: str, keys: Collection[str]) -> dict[tuple[str, str], int]:
        """What these partition keys have added to the counts of a job, by leaf and key."""
        ...

    def counted_events(self, job: str, leaf: str, after: datetime, limit: int) -> tuple[Event, ...]:
        """The kept events of a job at a leaf that arrived after an instant, by arrival, then id."""
        ...

    def newest_counted(self, job: str, leaf: str, until: datetime) -> datetime | None:
        """The last arrival up to an instant, of the kept events of a job at a leaf."""
        ...


class MaintenanceRows(Protocol):
    """Reads tables, records and runs of operations; what a poll asks is answered by an index."""

    def tables(self, *, names: Collection[str] | None = None) -> tuple[TableState, ...]:
        """Tables, by name; all, or those of `names` that the store knows."""
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

    def operation_runs(self, **wanted: Unpack[OperationRunsWanted]) -> tuple[OperationRun, ...]:
        """Runs by start, then job."""
        ...

    def bytes_rewritten(self, since: datetime, until: datetime) -> int:
        """The bytes of all runs that ended in [since, until)."""
        ...

    def keys_written(self, dataset: str) -> tuple[str, ...]:
        """The keys of a dataset ("app/dataset") that came or were written, sorted."""
        ...


class ExpectedRows(Protocol):
    """Reads what is expected, and what was late."""

    def expected_data(self, datasets: Collection[str] | None = None) -> tuple[ExpectedData, ...]:
        """The datasets with a deadline, all or those of these names, by name."""
        ...

    def due_data(self, now: datetime, limit: int) -> tuple[ExpectedData, ...]:
        """The datasets whose `due_at` is due, by `due_at`, then name."""
        ...

    def next_due_data(self) -> datetime | None:
        """The earliest `due_at` of all datasets."""
        ...

    def expected_periods(self, dataset: str, periods: Collection[str]) -> tuple[ExpectedPeriod, ...]:
        """The kept ones of these periods (keys) of a dataset, by key."""
        ...

    def late_periods(self, wanted: LateWanted, limit: int) -> tuple[ExpectedPeriod, ...]:
        """Periods that were late, the newest `due_at` first, then by dataset and key."""
        ...

    def late_totals(self, names: Collection[str] | None = None) -> tuple[LateTotal, ...]:
        """How often each schedule, task and dataset was late, all or some (names), by kind and name."""
        ...
