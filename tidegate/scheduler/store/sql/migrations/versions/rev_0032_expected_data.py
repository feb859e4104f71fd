"""What is expected of datasets with a deadline, what was late, and which unfinished jobs are late."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0030"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tables, and the column and index of late jobs; totals begin with the jobs that are kept."""
    op.create_table(
        "expected_data",
        sa.Column("dataset", NAME, nullable=False),
        sa.Column("deadline", sa.Text(), nullable=False),
        sa.Column("partitions", sa.Text(), nullable=True),
        sa.Column("zone", NAME, nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=True),
        sa.Column("period", NAME, nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("dataset", name="pk_expected_data"),
    )
    _index("ix_expected_data_due", "expected_data", ["due_at", "dataset"], "due_at")
    op.create_table(
        "expected_periods",
        sa.Column("dataset", NAME, nullable=False),
        sa.Column("period", NAME, nullable=False),
        sa.Column("landed", sa.Text(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("late_at", sa.BigInteger(), nullable=True),
        sa.Column("missing", sa.Text(), nullable=False),
        sa.Column("landed_at", sa.BigInteger(), nullable=True),
        sa.Column("app", NAME, nullable=False),
        sa.Column("was_late", sa.BigInteger(), nullable=True),
        sa.Column("is_late", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("dataset", "period", name="pk_expected_periods"),
    )
    columns = {
        "ix_expected_periods_late": (["was_late", "dataset", "period"], "was_late"),
        "ix_expected_periods_late_of": (["dataset", "was_late"], "was_late"),
        "ix_expected_periods_late_now": (["is_late", "dataset", "period"], "is_late"),
    }
    for name, (indexed, given) in columns.items():
        _index(name, "expected_periods", indexed, given)
    op.create_table(
        "late_totals",
        sa.Column("kind", NAME, nullable=False),
        sa.Column("name", NAME, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "name", name="pk_late_totals"),
    )
    op.add_column("jobs", sa.Column("late_of", NAME))
    _index("ix_jobs_late", "jobs", ["late_of"], "late_of")
    op.execute(
        "UPDATE jobs SET late_of = schedule WHERE late_at IS NOT NULL"
        " AND state NOT IN ('SUCCEEDED', 'FAILED', 'DISCARDED')"
    )
    op.execute(
        "INSERT INTO late_totals (kind, name, number)"
        " SELECT CASE WHEN max(instance) IS NULL THEN 'schedule' ELSE 'task' END, schedule, count(*)"
        " FROM jobs WHERE late_at IS NOT NULL GROUP BY schedule"
    )


def _index(name: str, table: str, columns: list[str], given: str) -> None:
    where = sa.text(f"{given} IS NOT NULL")
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)
