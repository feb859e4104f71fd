"""What lists, pages, metrics and retention read, beside what the engine reads.

SQL stores have it, the one in memory does not. Old rows and long lists are read in pages, by an index of
their instants: a slice of the work costs its own rows, and not what the store holds. Names of pruned events
and runs stay: a fact that is reported again stays one fact.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Protocol, Unpack

from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.records.alert import Alert
from tidegate.scheduler.model.retention import LedgerSum, OldEvent, OldJob, OldRun, OpenInstance
from tidegate.scheduler.model.run import Launched
from tidegate.scheduler.store.answers import (
    AlertCount,
    Awaiting,
    Counts,
    Damage,
    EndedWork,
    JobCount,
    Landing,
    LaneCount,
    NewestJob,
    OpenWork,
    PartitionState,
    Position,
    TableSize,
)
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.wanted import AlertsWanted, EventsWanted, InstancesWanted


class ListingReader(EngineReader, Protocol):
    """Reads one consistent state of the store, for people."""

    def events_page(self, wanted: EventsWanted, limit: int) -> tuple[Event, ...]:
        """Events, the newest first by arrival, then id."""
        ...

    def job_counts(
        self, states: Collection[JobState], ended_since: datetime | None = None, *, operations: bool = True
    ) -> tuple[JobCount, ...]:
        """Jobs of these states by app, state and reason, in this order.

        Args:
            ended_since: of those only that ended then or later.
            operations: whether operations on tables count.
        """
        ...

    def newest_deployment(self) -> tuple[int, datetime] | None:
        """Number and instant of the newest entry of a deployment, without what it has changed."""
        ...

    def partition_states(self, dataset: str, keys: Collection[str]) -> tuple[PartitionState, ...]:
        """Those of these partitions of a dataset ("app/name") that have landed, by key."""
        ...

    def partition_ends(self, dataset: str, prefixes: Collection[str]) -> tuple[tuple[str, str], ...]:
        """The first and the last landed key with each of these prefixes, of those with any, sorted."""
        ...

    def partition_reports(self, dataset: str, keys: Collection[str], most: int) -> dict[str, int]:
        """How often each of these partitions has landed, counted up to `most`. Every key has an entry."""
        ...

    def landings(self, datasets: Collection[str]) -> tuple[Landing, ...]:
        """What arrived last of each of these datasets ("app/name"), of those with anything, by dataset."""
        ...

    def instances_page(
        self, states: Collection[JobState], **wanted: Unpack[InstancesWanted]
    ) -> tuple[Job, ...]:
        """Instances in one of some states, by scheduled time, then id; `newest` reads from the other end."""
        ...

    def newest_jobs(self, schedules: Collection[str]) -> tuple[NewestJob, ...]:
        """The newest job of each of these schedules in each state but DISCARDED, by schedule, then state.

        An instance whose start time has not come (`W-TIME`) is left out: it is made a day before.
        """
        ...

    def late_jobs(self) -> dict[str, int]:
        """How many unfinished jobs are late, by schedule ("app/name"), of those that have any, sorted."""
        ...

    def alerts(self, project: str, **wanted: Unpack[AlertsWanted]) -> tuple[Alert, ...]:
        """The alerts of a project, the newest `made_at` first, then by id."""
        ...

    def alert_counts(self, project: str, app: str | None = None) -> tuple[AlertCount, ...]:
        """How many alerts there are, of one app or of all, by channel, kind and state."""
        ...

    def damage(self) -> tuple[Damage, ...]:
        """Rows that cannot be read, which all other queries leave out, and what the database says of itself.

        At most the newest rows of large tables are looked at.
        """
        ...

    def counts(self) -> Counts:
        """What the store has."""
        ...

    def sizes(self) -> tuple[TableSize, ...]:
        """The size of each table, by name."""
        ...

    def newest_deliveries(self, job: str, limit: int) -> tuple[Delivery, ...]:
        """The last of the deliveries of a job, in the order of `deliveries`."""
        ...

    def count_deliveries(self, job: str) -> int:
        """How many deliveries `deliveries` returns of a job."""
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

    def old_events(self, before: datetime, after: Position | None, limit: int) -> tuple[OldEvent, ...]:
        """Events that arrived before an instant, by arrival, then id, after a position."""
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

    def slot_holders(self) -> dict[str, tuple[str, ...]]:
        """The resources of which each holder has a slot, sorted."""
        ...

    def launched_since(self, since: datetime) -> tuple[Launched, ...]:
        """The launches after an instant, by instant and holder."""
        ...

    def lane_counts(
        self, since: datetime, until: datetime, apps: Collection[str] | None = None
    ) -> tuple[LaneCount, ...]:
        """The schedules that a span has something of, each state of their jobs, and each coming fire, alone.

        Args:
            since: what ended before is left out.
            until: what was opened later, and instances that are scheduled for later, are left out.
            apps: only these; None for all.
        """
        ...

    def lane_jobs(
        self, schedules: Collection[str], since: datetime, until: datetime, most: int
    ) -> tuple[Job, ...]:
        """The jobs of some schedules that `lane_counts` counts, without their launches, as `jobs` has them.

        Args:
            most: of each schedule so many that ended, and as many that have not, the newest ones.
        """
        ...

    def last_durations(self, schedules: Collection[str], most: int) -> dict[str, tuple[timedelta, ...]]:
        """How long the last successful runs of each schedule took, the newest job first."""
        ...

    def last_arrivals(self, datasets: Collection[str], most: int) -> dict[str, tuple[datetime, ...]]:
        """When partitions of each dataset ("app/name") landed last, the newest first."""
        ...

    def open_work(self, now: datetime, apps: Collection[str] | None = None) -> tuple[OpenWork, ...]:
        """The unfinished jobs, of these apps or of all, those that are alike counted together."""
        ...

    def ended_work(self, now: datetime, apps: Collection[str] | None = None) -> tuple[EndedWork, ...]:
        """The jobs that ended within the last `HOURS` hours, those that are alike counted together."""
        ...

    def awaiting(self, most: int, apps: Collection[str] | None = None) -> tuple[Awaiting, ...]:
        """What waiting jobs wait for, the most frequent first."""
        ...
