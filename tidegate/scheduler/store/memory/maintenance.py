"""What the store in memory knows of maintenance: when operations are due, and their runs."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Unpack

from tidegate.scheduler.model.event import PARTITION_KEY
from tidegate.scheduler.model.maintenance import MAINTENANCE_RECORDS, OperationRun
from tidegate.scheduler.store.memory.tables import Tables, as_stored
from tidegate.scheduler.store.wanted import OperationRunsWanted


class MaintenanceReader:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def next_maintenance(self) -> datetime | None:
        records = self._tables.records_of(MAINTENANCE_RECORDS).values()
        looks = (record.next_look for record in records if record.next_look is not None)
        closes = (self._tables.operation_runs[job].closes_at for job in self._tables.running)
        return min((*looks, *closes), default=None)

    def operation_runs(self, **wanted: Unpack[OperationRunsWanted]) -> tuple[OperationRun, ...]:
        jobs, tables, running = wanted.get("jobs"), wanted.get("tables"), wanted.get("running")
        since, before = wanted.get("started_since"), wanted.get("before")
        every = self._tables.operation_runs
        runs: Iterable[OperationRun] = every.values()
        if running:
            runs = (every[job] for job in self._tables.running)
        if jobs is not None:
            runs = (every[job] for job in set(jobs) if job in every)
        found = [
            run
            for run in runs
            if (tables is None or run.table in tables)
            and (not running or run.ending is None)
            and (since is None or run.started_at >= since)
            and (before is None or (run.started_at, run.job) < before)
        ]
        found.sort(key=lambda run: (run.started_at, run.job))
        limit = wanted.get("limit")
        return tuple(found if limit is None else found[max(0, len(found) - limit) :])

    def bytes_rewritten(self, since: datetime, until: datetime) -> int:
        runs = self._tables.operation_runs.values()
        return sum(run.bytes for run in runs if run.ended_at is not None and since <= run.ended_at < until)

    def keys_written(self, dataset: str) -> tuple[str, ...]:
        key = f"{PARTITION_KEY}{dataset}"
        events = self._tables.events.values()
        return tuple(sorted({e.partition for e in events if e.key == key and e.partition is not None}))


class MaintenanceWriter(MaintenanceReader):
    def put_operation_runs(self, runs: Sequence[OperationRun]) -> None:
        self._tables.own("operation_runs", "running")
        for run in runs:
            self._tables.operation_runs[run.job] = as_stored(run)
            if run.ending is None:
                self._tables.running[run.job] = None
            else:
                self._tables.running.pop(run.job, None)
