"""The tables of the store in memory, copied on write.

A committed `Tables` never changes: a transaction copies a table before its first write to it and
works on the copy. So a reader of the old tables sees one consistent state, and a rollback drops
the copies.
"""

from copy import copy
from dataclasses import dataclass, field
from datetime import datetime

from tidegate.domain.model import Operation
from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState
from tidegate.scheduler.model.event import Event, Subscription
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.maintenance import OperationRun, Record, TableState
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod, LateTotal
from tidegate.scheduler.model.records.override import Override
from tidegate.scheduler.model.records.partitions_report import PartitionsReport
from tidegate.scheduler.model.records.specification import Specification
from tidegate.scheduler.model.records.tally import KeptTally
from tidegate.scheduler.model.records.token import Token
from tidegate.scheduler.model.records.watched import WatchedFolder, WatchedPartition
from tidegate.scheduler.model.run import Gauge, Run

DeliveryKey = tuple[str, str, str]
"""Event id, schedule, leaf: the key of a delivery within its job."""


RecordKey = tuple[str, Operation, str]
"""Policy, operation, table."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DeliveryMark:
    """A delivery without its event, which is in the table of events."""

    reason: str | None
    at: datetime


@dataclass(kw_only=True, slots=True)
class Tables:
    """One state of the store.

    Attributes:
        unrouted: ids of the events that are not routed yet.
        waiting: ids of the jobs that are decided when they are due.
        deliveries: by job; None for deliveries without a job.
        edges: the recorded upstream instances of each instance.
        slots: the holders of each resource.
        launches: program and instant, by holder.
        claims: run id and instant, by job and attempt.
        cursors: JSON, by name.
        maintained: what is known of tables, by name.
        records: of operations, by policy, operation and table.
        operation_runs: by job.
        running: jobs of the runs of operations that have not ended.
        tallies: kept counts of waiting jobs, by job.
        tallied_keys: what keys have added to them, by job, then leaf and key.
        counted_events: leaf, arrival and id, by job.
        numbers: of the entries of the journal.
        numbered: the last number that was given.
        tokens: by name.
        specifications: by ref and number of the deployment.
        partitions_reports: by id.
        watched_folders: by dataset.
        watched_partitions: by dataset and key.
        expected_data: by dataset.
        expected_periods: by dataset and key.
        late_totals: by kind and name.
        overrides: by ref and kind.
        queues: when each is looked at, if it was woken, by resource and queue.
        owned: names of the tables that this transaction has copied already.
    """

    apps: dict[str, DeployedApp] = field(default_factory=dict[str, DeployedApp])
    schedules: dict[str, ScheduleState] = field(default_factory=dict[str, ScheduleState])
    subscriptions: dict[str, frozenset[Subscription]] = field(
        default_factory=dict[str, frozenset[Subscription]]
    )
    events: dict[str, Event] = field(default_factory=dict[str, Event])
    unrouted: dict[str, None] = field(default_factory=dict[str, None])
    deliveries: dict[str | None, dict[DeliveryKey, DeliveryMark]] = field(
        default_factory=dict[str | None, dict[DeliveryKey, DeliveryMark]]
    )
    jobs: dict[str, Job] = field(default_factory=dict[str, Job])
    waiting: dict[str, None] = field(default_factory=dict[str, None])
    edges: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    slots: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    launches: dict[str, tuple[str, datetime]] = field(default_factory=dict[str, tuple[str, datetime]])
    gauges: dict[str, Gauge] = field(default_factory=dict[str, Gauge])
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    claims: dict[tuple[str, int], tuple[str, datetime]] = field(
        default_factory=dict[tuple[str, int], tuple[str, datetime]]
    )
    cursors: dict[str, bytes] = field(default_factory=dict[str, bytes])
    maintained: dict[str, TableState] = field(default_factory=dict[str, TableState])
    records: dict[RecordKey, Record] = field(default_factory=dict[RecordKey, Record])
    operation_runs: dict[str, OperationRun] = field(default_factory=dict[str, OperationRun])
    running: dict[str, None] = field(default_factory=dict[str, None])
    tallies: dict[str, KeptTally] = field(default_factory=dict[str, KeptTally])
    tallied_keys: dict[str, dict[tuple[str, str], int]] = field(
        default_factory=dict[str, dict[tuple[str, str], int]]
    )
    counted_events: dict[str, frozenset[tuple[str, datetime, str]]] = field(
        default_factory=dict[str, frozenset[tuple[str, datetime, str]]]
    )
    journal: list[Entry] = field(default_factory=list[Entry])
    numbers: list[int] = field(default_factory=list[int])
    numbered: int = 0
    tokens: dict[str, Token] = field(default_factory=dict[str, Token])
    specifications: dict[tuple[str, int], Specification] = field(
        default_factory=dict[tuple[str, int], Specification]
    )
    partitions_reports: dict[str, PartitionsReport] = field(default_factory=dict[str, PartitionsReport])
    watched_folders: dict[str, WatchedFolder] = field(default_factory=dict[str, WatchedFolder])
    watched_partitions: dict[tuple[str, str], WatchedPartition] = field(
        default_factory=dict[tuple[str, str], WatchedPartition]
    )
    expected_data: dict[str, ExpectedData] = field(default_factory=dict[str, ExpectedData])
    expected_periods: dict[tuple[str, str], ExpectedPeriod] = field(
        default_factory=dict[tuple[str, str], ExpectedPeriod]
    )
    late_totals: dict[tuple[str, str], LateTotal] = field(default_factory=dict[tuple[str, str], LateTotal])
    overrides: dict[tuple[str, str], Override] = field(default_factory=dict[tuple[str, str], Override])
    queues: dict[tuple[str, str], datetime | None] = field(
        default_factory=dict[tuple[str, str], datetime | None]
    )
    owned: set[str] = field(default_factory=set[str])

    def fork(self) -> "Tables":
        """Return the same tables for a transaction, which copies them one by one with `own`."""
        forked = copy(self)
        forked.owned = set()
        return forked

    def own(self, *names: str) -> None:
        """Copy these tables unless this transaction has done so already; call it before a write."""
        for name in names:
            if name not in self.owned:
                setattr(self, name, getattr(self, name).copy())
                self.owned.add(name)
