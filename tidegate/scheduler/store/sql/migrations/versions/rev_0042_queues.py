"""Blocked jobs wait in queues; those that are blocked already are decided again, and enter theirs."""

import sqlalchemy as sa
from alembic import op

from tidegate.scheduler.store.sql.columns import Name

revision = "0042"
down_revision = "0041"

QUEUED = sa.text("queue IS NOT NULL")
WOKEN = sa.text("woken_at IS NOT NULL")
DECIDED = "state IN ('PENDING_TRIGGER', 'PENDING_CONSTRAINT') OR gave_back"


def upgrade() -> None:
    """Add the columns and the table, and make the blocked jobs due."""
    op.add_column("jobs", sa.Column("needs", sa.Text(), nullable=False, server_default=sa.text("'[]'")))
    op.add_column("jobs", sa.Column("queue", Name))
    op.add_column("jobs", sa.Column("launch_rank", Name))
    op.create_index(
        "ix_jobs_queue", "jobs", ["queue", "launch_rank"], sqlite_where=QUEUED, postgresql_where=QUEUED
    )
    op.create_table(
        "queues",
        sa.Column("resource", Name, nullable=False),
        sa.Column("queue", Name, nullable=False),
        sa.Column("woken_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("resource", "queue", name="pk_queues"),
    )
    op.create_index(
        "ix_queues_woken", "queues", ["woken_at", "queue"], sqlite_where=WOKEN, postgresql_where=WOKEN
    )
    op.create_index("ix_queues_queue", "queues", ["queue"])
    op.execute(
        "UPDATE jobs SET next_check_at = opened_at, due_at = opened_at"
        f" WHERE blocked_on IS NOT NULL AND ({DECIDED})"
    )
