"""Table maintenance: tables and their health, when operations are due, their jobs and runs.

An older store knows of no tables.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column, the tables and their indexes, and the index that finds the partitions of a dataset."""
    op.add_column("jobs", sa.Column("maintenance", sa.Text))
    op.create_index("ix_events_partition", "events", ["key", "partition"], **_where("partition"))
    _create_tables()
    _create_records()
    _create_runs()


def _create_tables() -> None:
    op.create_table(
        "maintained_tables",
        sa.Column("name", NAME, nullable=False),
        sa.Column("catalog_name", NAME, nullable=False),
        sa.Column("dataset", NAME),
        sa.Column("health_policy", NAME),
        sa.Column("gone", sa.Boolean(), nullable=False),
        sa.Column("health", sa.Text()),
        sa.Column("changed_at", sa.BigInteger()),
        sa.Column("wanted_at", sa.BigInteger()),
        sa.Column("history", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_maintained_tables"),
    )
    op.create_index(
        "ix_maintained_tables_wanted", "maintained_tables", ["wanted_at", "name"], **_where("wanted_at")
    )


def _create_records() -> None:
    op.create_table(
        "maintenance_records",
        sa.Column("policy", NAME, nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("table", NAME, nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.Column("next_run", sa.BigInteger()),
        sa.Column("due_since", sa.BigInteger()),
        sa.Column("last_start", sa.BigInteger()),
        sa.Column("next_look", sa.BigInteger()),
        sa.Column("job", NAME),
        sa.Column("reason", sa.Text()),
        sa.PrimaryKeyConstraint("policy", "operation", "table", name="pk_maintenance_records"),
    )
    op.create_index("ix_maintenance_records_table", "maintenance_records", ["table"])
    op.create_index(
        "ix_maintenance_records_look",
        "maintenance_records",
        ["next_look", "table", "operation", "policy"],
        **_where("next_look"),
    )


def _create_runs() -> None:
    op.create_table(
        "operation_runs",
        sa.Column("job", NAME, nullable=False),
        sa.Column("table", NAME, nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("policy", NAME, nullable=False),
        sa.Column("by_hand", sa.Boolean(), nullable=False),
        sa.Column("probe", sa.Boolean(), nullable=False),
        sa.Column("forced", sa.Boolean(), nullable=False),
        sa.Column("excluded", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("closes_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger()),
        sa.Column("ending", sa.Text()),
        sa.Column("changed", sa.Boolean(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.Column("results", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("running_until", sa.BigInteger()),
        sa.PrimaryKeyConstraint("job", name="pk_operation_runs"),
    )
    op.create_index("ix_operation_runs_table", "operation_runs", ["table", "started_at"])
    op.create_index("ix_operation_runs_started", "operation_runs", ["started_at", "job"])
    op.create_index("ix_operation_runs_ended", "operation_runs", ["ended_at"])
    op.create_index(
        "ix_operation_runs_running", "operation_runs", ["running_until"], **_where("running_until")
    )


def _where(column: str) -> dict[str, Any]:
    """Return the options of a partial index over the rows that have a value in this column."""
    condition = sa.text(f'"{column}" IS NOT NULL')
    return {"sqlite_where": condition, "postgresql_where": condition}
