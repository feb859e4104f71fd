"""The tables of the store in memory, copied on write.

A committed `Tables` never changes: a transaction copies a table before its first write to it and
works on the copy. So a reader of the old tables sees one consistent state, and a rollback drops
the copies.
"""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.maintenance import OperationRun
from tidegate.scheduler.model.records.tally import KeptTally
from tidegate.scheduler.model.run import Run

V = TypeVar("V", bound=Value)


def as_stored(value: V) -> V:
    """Return a value after a round trip through JSON: tuples in its plain data become lists."""
    return msgspec.json.decode(msgspec.json.encode(value), type=type(value))


DeliveryKey = tuple[str, str, str]
"""Event id, schedule, leaf: the key of a delivery within its job."""


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
        going: ids of the jobs that have not ended.
        decided: ids of the jobs whose launch is decided, and which are not launched yet.
        deliveries: by job; None for deliveries without a job.
        edges: the recorded upstream instances of each instance.
        slots: the holders of each resource.
        launches: program and instant, by holder.
        active_runs: ids of the runs that have not ended.
        claims: run id and instant, by job and attempt.
        cursors: JSON, by name.
        operation_runs: by job.
        running: jobs of the runs of operations that have not ended.
        tallies: kept counts of waiting jobs, by job.
        tallied_keys: what keys have added to them, by job, then leaf and key.
        counted_events: leaf, arrival and id, by job.
        numbers: of the entries of the journal.
        numbered: the last number that was given.
        records: by name of their kind, then key.
        queues: when each is looked at, if it was woken, by resource and queue.
        owned: names of the tables that this transaction has copied already.
    """

    schedules: dict[str, ScheduleState] = field(default_factory=dict[str, ScheduleState])
    events: dict[str, Event] = field(default_factory=dict[str, Event])
    unrouted: dict[str, None] = field(default_factory=dict[str, None])
    deliveries: dict[str | None, dict[DeliveryKey, DeliveryMark]] = field(
        default_factory=dict[str | None, dict[DeliveryKey, DeliveryMark]]
    )
    jobs: dict[str, Job] = field(default_factory=dict[str, Job])
    waiting: dict[str, None] = field(default_factory=dict[str, None])
    going: dict[str, None] = field(default_factory=dict[str, None])
    decided: dict[str, None] = field(default_factory=dict[str, None])
    edges: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    slots: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    launches: dict[str, tuple[str, datetime]] = field(default_factory=dict[str, tuple[str, datetime]])
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    active_runs: dict[str, None] = field(default_factory=dict[str, None])
    claims: dict[tuple[str, int], tuple[str, datetime]] = field(
        default_factory=dict[tuple[str, int], tuple[str, datetime]]
    )
    cursors: dict[str, bytes] = field(default_factory=dict[str, bytes])
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
    records: dict[str, dict[tuple[Any, ...], Any]] = field(
        default_factory=dict[str, dict[tuple[Any, ...], Any]]
    )
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

    def records_of(self, kind: Kind[V]) -> Mapping[tuple[Any, ...], V]:
        """Return the records of a kind, by key."""
        return self.records.get(kind.name, {})

    def own_records(self, kind: Kind[V]) -> dict[tuple[Any, ...], V]:
        """Return the records of a kind for a write; call it like `own`."""
        self.own("records")
        if kind.name not in self.owned:
            self.records[kind.name] = dict(self.records_of(kind))
            self.owned.add(kind.name)
        return self.records[kind.name]
