"""Parts of `EngineReader`, for functions that read one kind of row.

Kept counts belong to jobs that wait: a store removes those of a job with `put_jobs` once it waits no longer,
and with `remove_deliveries`, unless the caller counts on without what has left. Code that adds deliveries
advances the counts of their jobs, or removes them. Of a job whose events may stop counting, the counted
events are kept too, by leaf and arrival.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Protocol, TypeVar, Unpack

from tidegate.domain.value import Value
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.kind import Key, Kind
from tidegate.scheduler.model.maintenance import OperationRun
from tidegate.scheduler.model.records.tally import KeptTally
from tidegate.scheduler.store.wanted import OperationRunsWanted

V = TypeVar("V", bound=Value)


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

    def counted_keys(self, job: str, place: str) -> tuple[str, ...]:
        """The keys that have added to the counts of a job at a leaf, or at another place of `TalliedKeys`."""
        ...

    def counted_events(self, job: str, leaf: str, after: datetime, limit: int) -> tuple[Event, ...]:
        """The kept events of a job at a leaf that arrived after an instant, by arrival, then id."""
        ...

    def newest_counted(self, job: str, leaf: str, until: datetime) -> datetime | None:
        """The last arrival up to an instant, of the kept events of a job at a leaf."""
        ...


class MaintenanceRows(Protocol):
    """Reads runs of operations, and when maintenance is due; what a poll asks is answered by an index."""

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


class RecordRows(Protocol):
    """Reads records of any kind by their key: see `Kind`, which says what is found by which fields."""

    def records(self, kind: Kind[V], /, **among: Collection[str] | None) -> tuple[V, ...]:
        """The records of a kind, in its order.

        Args:
            among: the values that a field may have, or its one value; None does not narrow.
        """
        ...


def record(reader: RecordRows, kind: Kind[V], /, **key: str) -> V | None:
    """Return the record with a key, by the names of its fields; None if there is none."""
    return next(iter(reader.records(kind, **key)), None)


class ChangedRecords(RecordRows, Protocol):
    """Changes records of any kind."""

    def put_records(self, kind: Kind[V], values: Iterable[V]) -> None:
        """Create or replace records, by their keys."""
        ...

    def drop_records(self, kind: Kind[Any], keys: Iterable[Key]) -> None:
        """Remove the records with these keys, or whose keys begin so."""
        ...
