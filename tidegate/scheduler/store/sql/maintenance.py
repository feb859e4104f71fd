"""Maintenance in SQL: its tables, their codecs, and the indexes by which a poll gets its answers.

    maintained_tables     a row for each table that the store knows
    maintenance_records   a row for each operation of a policy on a table
    operation_runs        a row for each run of an operation

Partial indexes hold only what is still to be done: tables that are to be measured, records that a poll
looks at, and runs that have not ended.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Unpack

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Table,
    Text,
    and_,
    bindparam,
    func,
    or_,
    select,
    union_all,
)

from tidegate.domain.model import Operation
from tidegate.scheduler.model.event import PARTITION_KEY
from tidegate.scheduler.model.maintenance import (
    Ending,
    Health,
    OperationRun,
    Record,
    TableHistory,
    TableState,
)
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.sql.columns import Codec, Coded, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata, partial_index
from tidegate.scheduler.store.sql.statements.filters import FilteredQueries, Filters
from tidegate.scheduler.store.sql.statements.queries import Changes, Statement, every
from tidegate.scheduler.store.sql.tables import events
from tidegate.scheduler.store.wanted import OperationRunsWanted

maintained_tables = Table(
    "maintained_tables",
    metadata,
    Column("name", Name, primary_key=True),
    Column("catalog_name", Name, nullable=False),
    Column("dataset", Name),
    Column("health_policy", Name),
    Column("gone", Boolean, nullable=False),
    Column("health", Json(Health)),
    Column("changed_at", Instant),
    Column("wanted_at", Instant),
    Column("history", Json(TableHistory), nullable=False),
)
partial_index(
    "ix_maintained_tables_wanted",
    maintained_tables.c.wanted_at,
    maintained_tables.c.name,
    where=maintained_tables.c.wanted_at.is_not(None),
)

maintenance_records = Table(
    "maintenance_records",
    metadata,
    Column("policy", Name, primary_key=True),
    Column("operation", Coded(Operation), primary_key=True),
    Column("table", Name, primary_key=True),
    Column("seen_at", Instant, nullable=False),
    Column("counts", Boolean, nullable=False),
    Column("next_run", Instant),
    Column("due_since", Instant),
    Column("last_start", Instant),
    Column("next_look", Instant),
    Column("job", Name),
    Column("reason", Coded(Reason)),
)
Index("ix_maintenance_records_table", maintenance_records.c.table)
partial_index(
    "ix_maintenance_records_look",
    maintenance_records.c.next_look,
    maintenance_records.c.table,
    maintenance_records.c.operation,
    maintenance_records.c.policy,
    where=maintenance_records.c.next_look.is_not(None),
)

operation_runs = Table(
    "operation_runs",
    metadata,
    Column("job", Name, primary_key=True),
    Column("table", Name, nullable=False),
    Column("operation", Coded(Operation), nullable=False),
    Column("policy", Name, nullable=False),
    Column("by_hand", Boolean, nullable=False),
    Column("probe", Boolean, nullable=False),
    Column("forced", Boolean, nullable=False),
    Column("excluded", Json(tuple[str, ...]), nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("closes_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("ending", Coded(Ending)),
    Column("changed", Boolean, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("before", Json(dict[str, float]), nullable=False),
    Column("after", Json(dict[str, float]), nullable=False),
    Column("results", Json(), nullable=False),
    Column("detail", Text, nullable=False),
    # `closes_at` of a run that has not ended.
    Column("running_until", Instant),
)
Index("ix_operation_runs_table", operation_runs.c.table, operation_runs.c.started_at)
Index("ix_operation_runs_started", operation_runs.c.started_at, operation_runs.c.job)
Index("ix_operation_runs_ended", operation_runs.c.ended_at)
partial_index(
    "ix_operation_runs_running",
    operation_runs.c.running_until,
    where=operation_runs.c.running_until.is_not(None),
)


TABLES = Codec(maintained_tables, TableState)
RECORDS = Codec(maintenance_records, Record)
OPERATION_RUNS = Codec(
    operation_runs,
    OperationRun,
    derived={"running_until": lambda run: run.closes_at if run.ending is None else None},
)


BEFORE, BEFORE_JOB = bindparam("before", type_=Instant), bindparam("before_id", type_=Name)
NEXT_LOOK, RUNNING_UNTIL = maintenance_records.c.next_look, operation_runs.c.running_until
_RUNS = operation_runs.c
FIRST = union_all(
    select(func.min(NEXT_LOOK)).where(NEXT_LOOK.is_not(None)),
    select(func.min(RUNNING_UNTIL)).where(RUNNING_UNTIL.is_not(None)),
)
BYTES = select(func.sum(_RUNS.bytes)).where(
    _RUNS.ended_at >= bindparam("since"), _RUNS.ended_at < bindparam("until")
)


RUNS_WANTED = Filters(
    query=every(OPERATION_RUNS),
    value=OPERATION_RUNS.value,
    lists={"jobs": _RUNS.job, "tables": _RUNS.table},
    bounds={
        "running": _RUNS.running_until.is_not(None),
        "started_since": _RUNS.started_at >= bindparam("started_since", type_=Instant),
        # The first condition alone tells the index where to begin.
        "before": and_(_RUNS.started_at <= BEFORE, or_(_RUNS.started_at < BEFORE, _RUNS.job < BEFORE_JOB)),
    },
    limits={"limit": (_RUNS.started_at.desc(), _RUNS.job.desc())},
)


def _keys_written() -> Statement:
    """Return the query for the partitions of the events of a key.

    Each partition is one look-up of the next one in an index; DISTINCT would read all events of the key.
    """
    written = events.c.key == bindparam("key")
    first = select(func.min(events.c.partition).label("partition")).where(
        written, events.c.partition.is_not(None)
    )
    found = first.cte("found", recursive=True)
    following = select(func.min(events.c.partition)).where(written, events.c.partition > found.c.partition)
    step = select(following.scalar_subquery().correlate(found)).where(found.c.partition.is_not(None))
    found = found.union_all(step)
    return select(found.c.partition).where(found.c.partition.is_not(None))


KEYS_WRITTEN = _keys_written()


class MaintenanceReader(FilteredQueries):
    def next_maintenance(self) -> datetime | None:
        found = self._connection.execute(FIRST).scalars()
        return min((each for each in found if each is not None), default=None)

    def operation_runs(self, **wanted: Unpack[OperationRunsWanted]) -> tuple[OperationRun, ...]:
        found = self._wanted(RUNS_WANTED, wanted)
        return tuple(sorted(found, key=lambda run: (run.started_at, run.job)))

    def bytes_rewritten(self, since: datetime, until: datetime) -> int:
        return int(self._connection.execute(BYTES, {"since": since, "until": until}).scalar() or 0)

    def keys_written(self, dataset: str) -> tuple[str, ...]:
        found = self._connection.execute(KEYS_WRITTEN, {"key": f"{PARTITION_KEY}{dataset}"})
        return tuple(found.scalars())


class MaintenanceWriter(Changes):
    def put_operation_runs(self, runs: Sequence[OperationRun]) -> None:
        self._put(OPERATION_RUNS, runs)
