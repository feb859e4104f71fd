"""Rejected offers of a job, whether it gave back its slots, and the start of every success.

A success whose start was not seen started at the latest when it ended; earlier versions left it empty.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the columns and the index; a job with a decided launch holds its slots, as before."""
    op.add_column("jobs", sa.Column("rejected", sa.Integer(), nullable=False, server_default=sa.text("0")))
    op.add_column("jobs", sa.Column("gave_back", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.execute("UPDATE runs SET started_at = ended_at WHERE started_at IS NULL AND status = 'succeeded'")
    op.create_index("ix_runs_started", "runs", ["program", "status", "started_at"])
