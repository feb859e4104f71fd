"""What the engine reads of a schedule store, in memory or in SQL: ticks, commands, launches, intake, `why`.

Every method takes and returns values of the engine, in sets.
Order is part of the contract, since decisions must be deterministic.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Protocol, TypeVar, Unpack

from tidegate.domain.model import Constraint, Schedule
from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery, Event, Report
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.records.expected import ExpectedPeriod
from tidegate.scheduler.model.records.specification import Specification
from tidegate.scheduler.model.retention import PrunedKind, Snapshot
from tidegate.scheduler.model.run import ProgramHistory, Run
from tidegate.scheduler.store.answers import AppHeader, Commitment, LedgerRow, Numbered
from tidegate.scheduler.store.engine_rows import InstanceRows, MaintenanceRows, RecordRows, TallyRows
from tidegate.scheduler.store.wanted import JobsWanted, JournalWanted, LateWanted, SchedulesWanted

V = TypeVar("V", bound=Value)


class EngineReader(InstanceRows, MaintenanceRows, RecordRows, TallyRows, Protocol):
    """Reads one consistent state of the store."""

    def due_records(self, kind: Kind[V], until: datetime | None, limit: int, /, **same: str) -> tuple[V, ...]:
        """The records of a kind that are due, earliest first, then in its order.

        Args:
            until: those that are due by then; None for all that are due at any time.
            same: the value that a field has.
        """
        ...

    def unrouted_events(self, limit: int) -> tuple[Event, ...]:
        """Events not routed yet, in order of arrival time, then id."""
        ...

    def events(
        self,
        *,
        key_prefix: str = "",
        key: str | None = None,
        partitions: Collection[str] | None = None,
        ids: Collection[str] | None = None,
        after: datetime | None = None,
        limit: int | None = 1000,
    ) -> tuple[Event, ...]:
        """Events, the newest arrival first; those that arrived after an instant, or all."""
        ...

    def jobs(self, **wanted: Unpack[JobsWanted]) -> tuple[Job, ...]:
        """Jobs by `opened_at`, then id."""
        ...

    def due_jobs(
        self, now: datetime, limit: int, after: tuple[datetime, str] | None = None
    ) -> tuple[Job, ...]:
        """Jobs that wait, or gave back their slots, whose `next_check_at` is due, earliest first, then id.

        Args:
            after: only those that come behind this `next_check_at` and id.
        """
        ...

    def consumers(self, jobs: Collection[str]) -> tuple[str, ...]:
        """The instances (ids) with a recorded edge to one of these instances (ids), sorted."""
        ...

    def slots(self, resources: Collection[str]) -> dict[str, int]:
        """The number of taken slots of each resource. Every resource has an entry."""
        ...

    def history(self, programs: Collection[str]) -> dict[str, ProgramHistory]:
        """The latest start and the latest end of the successful runs of each program, and the latest end of
        its runs of any status. Every program has an entry.
        """
        ...

    def launches(self, programs: Collection[str], since: datetime) -> dict[str, tuple[datetime, ...]]:
        """The launches of each program after `since`, oldest first. Every program has an entry."""
        ...

    def runs(
        self,
        *,
        ids: Collection[str] | None = None,
        jobs: Collection[str] | None = None,
        active: bool | None = None,
        limit: int | None = None,
    ) -> tuple[Run, ...]:
        """Runs that match all given filters, by `seen_at`, then id; with a limit the newest ones."""
        ...

    def claim_of(self, job: str, attempt: int) -> str | None:
        """The run that has claimed this attempt of the job."""
        ...

    def cursor(self, name: str) -> Any:
        """The JSON value last stored under this name, or None."""
        ...

    def cursors(self, begins: str) -> dict[str, Any]:
        """The stored JSON values whose names begin with a text, by name."""
        ...

    def journal(self, **wanted: Unpack[JournalWanted]) -> tuple[Entry, ...]:
        """Entries in the order in which they were written."""
        ...

    def journal_page(self, **wanted: Unpack[JournalWanted]) -> tuple[Numbered, ...]:
        """Entries with their numbers, in order."""
        ...

    def commitments(self) -> tuple[Commitment, ...]:
        """Unfinished and withheld publishes, and runs that may still publish, by commit id."""
        ...

    def watermarked(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """The parts that have watermarks, sorted, by consumer ("app/program") and source ("app/dataset")."""
        ...

    def ledger(
        self, *, app: str | None = None, after: str = "", limit: int | None = None
    ) -> tuple[LedgerRow, ...]:
        """One row for each schedule that any event was delivered to, by ref.

        An event is pending while its job waits or is PENDING_LAUNCH, consumed once the job is LAUNCHED
        (running), SUCCEEDED or FAILED by its run, and discarded with the job's reason when the job was
        DISCARDED or is a dead letter (F-LAUNCH), or with its own reason when it has no job or has left it. An
        event at several leaves counts once; it has left the job when it has left all of them. Pruned events
        count as they did when they were pruned.

        Args:
            after: only schedules whose ref follows this one.
            limit: only so many, the first.
        """
        ...

    def deliveries(self, jobs: Collection[str]) -> dict[str, tuple[Delivery, ...]]:
        """The deliveries of each job, by arrival, event id and leaf. Every id has an entry.

        An event that has left its job is left out.
        """
        ...

    def reports(self, job: str) -> tuple[Report, ...] | None:
        """The events that a job has collected, by arrival and id, each once; None unless all are reports."""
        ...

    def deliveries_of_events(self, events: Collection[str]) -> tuple[Delivery, ...]:
        """All deliveries of these events (ids), by event id, schedule, leaf and job."""
        ...

    def app_headers(self) -> tuple[AppHeader, ...]:
        """All deployed apps without their specifications, by name."""
        ...

    def schedule_refs(self) -> tuple[str, ...]:
        """The refs of all deployed schedules and tasks, sorted."""
        ...

    def schedules(self, **wanted: Unpack[SchedulesWanted]) -> tuple[ScheduleState, ...]:
        """Deployed schedules, by ref."""
        ...

    def constraints(
        self, kinds: Collection[type[Constraint]], *, app: str | None = None
    ) -> tuple[tuple[str, Constraint], ...]:
        """The constraints of some kinds, each with the ref of its schedule, by that.

        Specifications without any are not decoded: they are nearly all.
        """
        ...

    def due_schedules(self, now: datetime, limit: int, *, tasks: bool = False) -> tuple[ScheduleState, ...]:
        """Active or holding schedules whose `next_fire_at` is due, earliest first, then ref.

        Args:
            tasks: tasks instead, in any status, of which a day is to be generated.
        """
        ...

    def backfill_counts(self, first: int, last: int) -> dict[int, dict[JobState, int]]:
        """How many instances of backfills are in each state, without empty and discarded ones.

        Args:
            first, last: their numbers, both included.
        """
        ...

    def woken(self, until: datetime, limit: int | None = None) -> tuple[tuple[str, datetime], ...]:
        """Queues that were woken for an instant up to `until`, with that instant, by instant and queue.

        A queue that was woken twice counts once, at the first instant.
        """
        ...

    def queued_jobs(self, queue: str, after: str, limit: int) -> tuple[Job, ...]:
        """The first jobs of a queue in launch order.

        Args:
            after: only those behind this place (`launch_rank`); "" for all.
            limit: only so many.
        """
        ...

    def jobs_to_offer(
        self, apps: Collection[str], now: datetime | None = None, limit: int | None = None
    ) -> tuple[Job, ...]:
        """The first jobs of some apps whose launch is decided, and that hold their slots (`offer_rank`).

        Args:
            now: only those that are due for an offer; None for all.
            limit: only so many; None for all.
        """
        ...

    def pruned(self, kind: PrunedKind, ids: Collection[str]) -> frozenset[str]:
        """Those of these events, runs or discarded jobs (ids) that were pruned."""
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

    def late_periods(self, wanted: LateWanted, limit: int) -> tuple[ExpectedPeriod, ...]:
        """Periods that were late, the newest `due_at` first, then by dataset and key."""
        ...

    def specifications(self, until: int, *, apps: Collection[str] | None = None) -> tuple[Specification, ...]:
        """The newest specification of each part up to a deployment, by ref; what is gone too."""
        ...


def namespaces_of_apps(reader: EngineReader) -> dict[str, str]:
    """Return the namespace of each deployed app, by name."""
    return {each.name: each.namespace for each in reader.app_headers()}


def revisions_of_apps(reader: EngineReader) -> dict[str, int]:
    """Return the revision of each deployed app, by name: what changes when an app is deployed."""
    return {each.name: each.revision for each in reader.app_headers()}


def constraints_of(
    kinds: Collection[type[Constraint]], specs: Iterable[tuple[str, Schedule]]
) -> tuple[tuple[str, Constraint], ...]:
    """Return the constraints of some kinds in the specifications of schedules, each with its ref."""
    wanted = tuple(kinds)
    return tuple((ref, each) for ref, spec in specs for each in spec.constraints if isinstance(each, wanted))
