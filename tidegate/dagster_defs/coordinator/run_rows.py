"""The rows of many new runs, written together: few transactions instead of a dozen for each run.

    create    runs and their tags │ planned events and their assets │       a bar is a COMMIT
    enqueue   events "queued" │ runs are QUEUED │

What the rows say is Dagster's decision (`Noting`), and they are those that it would write itself. As it does,
a row says that its run is queued after an event has said so. After a crash at a bar a run is NOT_STARTED, and
the next offer of its job submits it, like any run that was created and not submitted.

It writes into our storage in SQLite (`dagster_defs.sqlite`) and into PostgreSQL. With any other one, as
Dagster's SQLite with a file for each run, each run is created and submitted by itself.
"""

import time
from abc import ABCMeta
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import sqlalchemy as sa
from dagster import (
    AssetMaterialization,
    DagsterEvent,
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    EventLogEntry,
    RunsFilter,
    serialize_value,
)

from tidegate.dagster_defs.coordinator.event_rows import (
    EventRows,
    insert_rows,
    one_transaction,
    takes_rows_together,
    writes_events_together,
)
from tidegate.dagster_defs.internals.new_runs import DynamicPartitionsStore
from tidegate.dagster_defs.internals.sql_storages import RunsTable, RunTagsTable, SqlRunStorage, runs_of
from tidegate.dagster_defs.sqlite.storage import KeptRunStorage

_NEW = DagsterRunStatus.NOT_STARTED

_QUEUE = (
    sa.update(RunsTable)
    # A run that is cancelled at this moment stays so.
    .where(RunsTable.c.run_id == sa.bindparam("run"), RunsTable.c.status == _NEW.value)
    .values(
        status=DagsterRunStatus.QUEUED.value,
        run_body=sa.bindparam("body"),
        update_timestamp=sa.bindparam("at"),
    )
)


class Noting:
    """Dagster's instance, which notes the runs and events that it is to write.

    Attributes:
        runs: in the order in which they were to be written.
        entries: events, likewise.
    """

    def __init__(self, instance: DagsterInstance, at: float | None = None) -> None:
        """Args:
        at: when all events happen that say no time, in seconds since 1970; default: when they are noted.
        """
        self.runs: list[DagsterRun] = []
        self.entries: list[EventLogEntry] = []
        self.run_storage = _NotingRuns(instance.run_storage, self.runs)
        self._instance = instance
        self._at = at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._instance, name)

    def report_dagster_event(self, *given: Any, **named: Any) -> None:
        """Make the entry of an event as Dagster does, see `DagsterInstance.report_dagster_event`."""
        report: Callable[..., None] = DagsterInstance.report_dagster_event
        report(self, *given, **{"timestamp": self._at, **named})

    def report_runless_asset_event(self, asset_event: AssetMaterialization) -> None:
        """Make the entry of what was materialised outside of a run as Dagster does."""
        cast(Any, DagsterInstance)._report_runless_asset_event(self, asset_event)

    def handle_new_event(self, event: EventLogEntry, **_batch: Any) -> None:
        """Note an event."""
        self.entries.append(event)


# Dagster asks whether it is one, where the partitions of an asset may be dynamic; it answers as the instance.
cast(ABCMeta, DynamicPartitionsStore).register(Noting)


class _NotingRuns:
    def __init__(self, storage: Any, runs: list[DagsterRun]) -> None:
        self._storage = storage
        self._runs = runs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)

    def add_run(self, run: DagsterRun) -> DagsterRun:
        self._runs.append(run)
        return run


class RunRows:
    """The tables of the runs and of the events of an instance."""

    def __init__(self, instance: DagsterInstance) -> None:
        """Args:
        instance: one with `writes_together`.
        """
        self._instance = instance
        # How a storage makes the values of a row is not public.
        self._runs: Any = runs_of(instance)
        self._events = EventRows(instance)

    def create(self, runs: Sequence[DagsterRun], planned: Iterable[EventLogEntry]) -> list[DagsterRun]:
        """Write runs, and the events of what they plan.

        Returns:
            The runs; those that exist already as they are, and nothing of them is written.

        Raises:
            IntegrityError: another process has created one of them at this moment; none is written.
        """
        found = self._runs.get_runs(RunsFilter(run_ids=[run.run_id for run in runs]))
        existing: dict[str, DagsterRun] = {run.run_id: run for run in found}
        new, now = [run for run in runs if run.run_id not in existing], datetime.now(UTC)
        with self._runs.connect() as connection, one_transaction(connection):
            rows = [self._runs._get_run_insertion_values(run, now) for run in new]
            insert_rows(connection, RunsTable, rows)
            tags = [(run.run_id, tag) for run in new for tag in run.tags_for_storage().items()]
            rows = [{"run_id": run_id, "key": key, "value": value} for run_id, (key, value) in tags]
            insert_rows(connection, RunTagsTable, rows)
        self._events.add(entry for entry in planned if entry.run_id not in existing)
        return [existing.get(run.run_id, run) for run in runs]

    def enqueue(self, runs: Sequence[DagsterRun]) -> None:
        """Put into the queue what was not submitted yet, in this order; in the turn of the submitter."""
        new = self._not_submitted([run.run_id for run in runs])
        queued = [run for run in runs if run.run_id in new]
        if not queued:
            return
        noting, now = Noting(self._instance), time.time()
        for run in queued:
            noting.report_dagster_event(DagsterEvent.job_enqueue(run), run.run_id, timestamp=now)
        self._events.add(noting.entries)
        rows = [
            {
                "run": run.run_id,
                "body": serialize_value(run.with_status(DagsterRunStatus.QUEUED)),
                "at": datetime.fromtimestamp(now, UTC),
            }
            for run in queued
        ]
        with self._runs.connect() as connection, one_transaction(connection):
            connection.execute(_QUEUE, rows)

    def _not_submitted(self, run_ids: Collection[str]) -> set[str]:
        is_new = RunsTable.c.run_id.in_(run_ids) & (RunsTable.c.status == _NEW.value)
        with self._runs.connect() as connection:
            return set(connection.execute(sa.select(RunsTable.c.run_id).where(is_new)).scalars())


def writes_together(instance: DagsterInstance) -> bool:
    """Return whether the rows of an instance can be written together."""
    return writes_events_together(instance) and takes_rows_together(
        runs_of(instance), KeptRunStorage, SqlRunStorage, "connect"
    )
