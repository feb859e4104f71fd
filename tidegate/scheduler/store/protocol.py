"""The protocols of a schedule store: `Reader` reads, `Transaction` changes.

A transaction is atomic and serialised: while one is open, no other one of the same store is, in any process.
So two schedulers on one database cannot both take the last slot of a limit. SQLite ensures it with BEGIN
IMMEDIATE, PostgreSQL with one advisory lock, memory with a mutex. Readers never wait for it.

Every method takes and returns values of the engine, in sets: a store writes rows in bulk.
Order is part of the contract, since decisions must be deterministic.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from tidegate.compiler.plan.renames import Renames
from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState
from tidegate.scheduler.model.event import Delivery, Event, Subscription
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.run import Gauge, Launched, ProgramHistory, Run
from tidegate.scheduler.store.parts.alerts import AlertChanges, AlertRows
from tidegate.scheduler.store.parts.commitment import Commitment
from tidegate.scheduler.store.parts.counts import CountRows
from tidegate.scheduler.store.parts.deliveries import DeliveryRows
from tidegate.scheduler.store.parts.deployed import DeployedRows
from tidegate.scheduler.store.parts.event_pages import EventPages
from tidegate.scheduler.store.parts.expected import ExpectedChanges, ExpectedRows
from tidegate.scheduler.store.parts.instances import InstanceRows
from tidegate.scheduler.store.parts.maintenance import MaintenanceChanges, MaintenanceRows
from tidegate.scheduler.store.parts.overrides import OverrideChanges, OverrideRows
from tidegate.scheduler.store.parts.pages import PageRows
from tidegate.scheduler.store.parts.partitions import PartitionRows
from tidegate.scheduler.store.parts.partitions_reports import PartitionsReportChanges, PartitionsReportRows
from tidegate.scheduler.store.parts.queues import QueueChanges, QueueRows
from tidegate.scheduler.store.parts.retention import RetentionChanges, RetentionRows
from tidegate.scheduler.store.parts.specifications import SpecificationChanges, SpecificationRows
from tidegate.scheduler.store.parts.tallies import TallyChanges, TallyRows
from tidegate.scheduler.store.parts.tokens import TokenChanges, TokenRows
from tidegate.scheduler.store.parts.watched import WatchedChanges, WatchedRows


class LedgerRow(Value, kw_only=True):
    """The events of one schedule by outcome; an event counts once for each job that it was delivered to.

    Attributes:
        succeeded: events of jobs whose run succeeded.
        running: events of jobs whose run has not ended.
        failed: events of jobs whose last run failed or was cancelled, by reason code.
        pending: events of jobs that wait, also for a further attempt, or whose run does not exist yet.
        discarded: events that no run was launched with, by reason code.
    """

    schedule: str
    succeeded: int = 0
    running: int = 0
    failed: dict[str, int] = {}
    pending: int = 0
    discarded: dict[str, int] = {}

    @property
    def consumed(self) -> int:
        """The events that a run was launched with, however it ended."""
        return self.succeeded + self.running + sum(self.failed.values())

    @property
    def landed(self) -> int:
        """All events of the schedule."""
        return self.consumed + self.pending + sum(self.discarded.values())


class Reader(
    CountRows,
    AlertRows,
    DeliveryRows,
    DeployedRows,
    EventPages,
    ExpectedRows,
    InstanceRows,
    MaintenanceRows,
    OverrideRows,
    PageRows,
    PartitionRows,
    PartitionsReportRows,
    QueueRows,
    SpecificationRows,
    TallyRows,
    RetentionRows,
    TokenRows,
    WatchedRows,
    Protocol,
):
    """Reads one consistent state of the store."""

    def subscriptions(
        self, event_keys: Collection[str] | None = None, *, schedules: Collection[str] | None = None
    ) -> tuple[Subscription, ...]:
        """The leaves that listen to any of these keys, or those of some schedules, by schedule and leaf."""
        ...

    def unrouted_events(self, limit: int) -> tuple[Event, ...]:
        """Events not routed yet, in order of arrival time, then id."""
        ...

    def events(
        self, *, key_prefix: str = "", ids: Collection[str] | None = None, limit: int = 1000
    ) -> tuple[Event, ...]:
        """Events, the newest arrival first."""
        ...

    def jobs(
        self,
        *,
        ids: Collection[str] | None = None,
        app: str | None = None,
        apps: Collection[str] | None = None,
        schedules: Collection[str] | None = None,
        states: Collection[JobState] | None = None,
        limit: int | None = None,
    ) -> tuple[Job, ...]:
        """Jobs that match all given filters, by `opened_at`, then id; with a limit the newest ones."""
        ...

    def due_jobs(self, now: datetime, limit: int) -> tuple[Job, ...]:
        """Jobs that wait, or gave back their slots, whose `next_check_at` is due, earliest first, then id."""
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

    def gauges(self, names: Collection[str] | None = None) -> tuple[Gauge, ...]:
        """The last report of each gauge, by name; all, or those of `names` that were reported."""
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

    def journal(
        self,
        *,
        schedule: str | None = None,
        job: str | None = None,
        kinds: Collection[EntryKind] | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[Entry, ...]:
        """Entries in the order in which they were written; with a limit the newest ones."""
        ...

    def commitments(self) -> tuple[Commitment, ...]:
        """Unfinished publishes, and runs that may still publish, by commit id."""
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


class Transaction(
    Reader,
    AlertChanges,
    ExpectedChanges,
    MaintenanceChanges,
    OverrideChanges,
    PartitionsReportChanges,
    QueueChanges,
    SpecificationChanges,
    TallyChanges,
    RetentionChanges,
    TokenChanges,
    WatchedChanges,
    Protocol,
):
    """Changes the store; leaving the context commits, an exception rolls everything back.

    A transaction reads its own writes.
    """

    def put_apps(self, apps: Sequence[DeployedApp]) -> None:
        """Create or replace apps."""
        ...

    def delete_apps(self, names: Collection[str]) -> None:
        """Remove apps; their schedules are removed apart."""
        ...

    def rename(self, names: Renames) -> None:
        """Give the rows of renamed parts and apps their new names, watermarks included.

        Apps, schedules, overrides, subscriptions, and the values of jobs other than operations are put by the
        caller.
        """
        ...

    def put_schedules(self, schedules: Sequence[ScheduleState]) -> None:
        """Create or replace schedules; subscriptions are left alone."""
        ...

    def put_subscriptions(self, schedules: Collection[str], subscriptions: Sequence[Subscription]) -> None:
        """Replace every subscription of these schedules."""
        ...

    def delete_schedules(self, refs: Collection[str]) -> None:
        """Remove schedules and their subscriptions; jobs, deliveries and journal stay."""
        ...

    def add_events(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """Store events as unrouted; events with a known id stay unchanged, and pruned ones stay away.

        Returns:
            The events that were new, in the given order, one for each id.
        """
        ...

    def mark_routed(self, event_ids: Collection[str]) -> None:
        """Take events out of `unrouted_events`."""
        ...

    def add_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """Record deliveries; one that exists (same event, schedule, leaf and job) stays unchanged."""
        ...

    def remove_deliveries(self, deliveries: Sequence[Delivery], counted: Collection[str] = ()) -> None:
        """Remove deliveries (by event, schedule, leaf and job), and the kept counts of their jobs.

        The caller records what became of the events.

        Args:
            counted: jobs (ids) whose counts stay, since the caller counts on without these deliveries.
        """
        ...

    def put_jobs(self, jobs: Sequence[Job]) -> None:
        """Create or replace jobs; those that do not wait lose their kept counts."""
        ...

    def put_edges(self, edges: Mapping[str, Collection[str]]) -> None:
        """Replace the recorded upstream instances (ids) of instances (ids)."""
        ...

    def take_slots(self, taken: Mapping[str, Collection[str]]) -> None:
        """Take one slot of each resource for each holder, a job or run; taking one twice takes it once."""
        ...

    def release_slots(self, holder: str) -> tuple[str, ...]:
        """Release all slots of `holder`, and return their resources, sorted."""
        ...

    def add_launches(self, launches: Sequence[Launched]) -> None:
        """Record launches; a second one of the same holder is ignored."""
        ...

    def remove_launch(self, holder: str) -> None:
        """Remove a failed launch."""
        ...

    def put_gauges(self, gauges: Sequence[Gauge]) -> None:
        """Store reports of gauges; a report older than the stored one is ignored."""
        ...

    def put_runs(self, runs: Sequence[Run]) -> None:
        """Create or replace runs."""
        ...

    def claim(self, job: str, attempt: int, run_id: str, at: datetime) -> str:
        """Claim (job, attempt) for a run unless another run has it.

        Returns:
            The run that holds the claim now; `run_id` itself for the winner, and again for a repeat by it.
        """
        ...

    def set_cursor(self, name: str, value: Any) -> None:
        """Store a JSON value under a name."""
        ...

    def add_journal(self, entries: Sequence[Entry]) -> None:
        """Append entries."""
        ...


class Store(Protocol):
    """A schedule store."""

    def reading(self) -> AbstractContextManager[Reader]:
        """Open one consistent state for reading."""
        ...

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Open the only transaction that may change the store; waits for an open one."""
        ...

    def close(self) -> None:
        """Release connections. The store cannot be used afterwards."""
        ...
