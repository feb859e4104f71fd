"""The protocols of a schedule store: `EngineReader` reads, `EngineTransaction` changes.

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
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.maintenance import OperationRun
from tidegate.scheduler.model.records.tally import KeptTally, TalliedKeys
from tidegate.scheduler.model.run import Launched, Run
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.engine_rows import ChangedRecords


class EngineTransaction(ChangedRecords, EngineReader, Protocol):
    """Changes the store; leaving the context commits, an exception rolls everything back.

    A transaction reads its own writes.
    """

    def rename(self, names: Renames) -> None:
        """Give the rows of renamed parts and apps their new names, watermarks included.

        Apps, schedules, overrides, subscriptions, and the values of jobs other than operations are put by the
        caller.
        """
        ...

    def put_schedules(self, schedules: Sequence[ScheduleState]) -> None:
        """Create or replace schedules; subscriptions are left alone."""
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

    def drop_launches(self, holders: Collection[str]) -> None:
        """Remove launches, as those that failed."""
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
        """Store a JSON value under a name; None removes what is stored."""
        ...

    def add_journal(self, entries: Sequence[Entry]) -> None:
        """Append entries."""
        ...

    def put_operation_runs(self, runs: Sequence[OperationRun]) -> None:
        """Create or replace runs of operations."""
        ...

    def wake(self, resources: Collection[str], at: datetime) -> None:
        """Let jobs that are blocked on any of these resources be decided at `at`, if not sooner.

        Of jobs in queues only the queues that need any of these resources are woken.
        """
        ...

    def mark_looked_at(self, queues: Collection[str]) -> None:
        """Let queues rest until they are woken again, and forget those without a job."""
        ...

    def take_back_events(self, ids: Collection[str]) -> int:
        """Remove events with their deliveries, as if they had never come; return the number of deliveries."""
        ...

    def set_back(self, now: datetime) -> None:
        """Let what happened to jobs, runs, launches, gauges and arrivals of events ahead be of now.

        So are alerts, and what they wait for.
        """
        ...

    def put_tallies(
        self,
        tallies: Sequence[KeptTally],
        keys: Mapping[str, TalliedKeys] | None = None,
        counted: Sequence[Delivery] = (),
    ) -> None:
        """Create or replace the counts of jobs, with what their keys and events add.

        Args:
            keys: what keys have added to the kept counts of jobs (ids), 0 for nothing; other keys stay.
            counted: counted events to keep, which `remove_deliveries` and `delete_tallies` remove.
        """
        ...

    def delete_tallies(self, jobs: Collection[str]) -> None:
        """Remove the counts of jobs, all their keys, and their counted events."""
        ...


class Store(Protocol):
    """A schedule store."""

    def reading(self) -> AbstractContextManager[EngineReader]:
        """Open one consistent state for reading."""
        ...

    def transaction(self) -> AbstractContextManager[EngineTransaction]:
        """Open the only transaction that may change the store; waits for an open one."""
        ...

    def close(self) -> None:
        """Release connections. The store cannot be used afterwards."""
        ...
