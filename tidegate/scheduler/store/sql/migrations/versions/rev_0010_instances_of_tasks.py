"""Instances of cycle tasks: what makes a job one, how they are found, and their recorded upstream instances.

An older store has jobs of schedules only.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the columns, their indexes and the table."""
    op.add_column("jobs", sa.Column("instance", sa.Text))
    op.add_column("jobs", sa.Column("commit", sa.Integer, nullable=False, server_default=sa.text("1")))
    op.add_column("jobs", sa.Column("backfill", sa.Integer))
    op.add_column("jobs", sa.Column("scheduled_at", sa.BigInteger))
    op.add_column("jobs", sa.Column("real_at", sa.BigInteger))
    for name, columns, where in (
        ("ix_jobs_instances", ["schedule", "backfill", "scheduled_at"], "scheduled_at IS NOT NULL"),
        ("ix_jobs_real", ["schedule", "backfill", "real_at"], "real_at IS NOT NULL"),
        ("ix_jobs_backfill", ["backfill"], "backfill > 0"),
    ):
        op.create_index(name, "jobs", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
    op.create_table(
        "edges",
        sa.Column("upstream", sa.Text(), nullable=False),
        sa.Column("job", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("upstream", "job", name="pk_edges"),
    )
    op.create_index("ix_edges_job", "edges", ["job"])
