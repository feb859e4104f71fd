"""The tables of maintenance in SQL, and the indexes that answer what a poll asks.

    maintained_tables     a row for each table that the store knows
    maintenance_records   a row for each operation of a policy on a table
    operation_runs        a row for each run of an operation

Partial indexes hold only what is still to be done: tables that are to be measured, records that a poll
looks at, and runs that have not ended.
"""

from sqlalchemy import BigInteger, Boolean, Column, Index, Table, Text

from tidegate.domain.model import Operation
from tidegate.scheduler.model.maintenance import Ending, Health, TableHistory
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.sql.columns import Coded, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata, partial_index

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
