"""An index of the instances of a state by their scheduled time: lists read a page of them."""

from alembic import op

revision = "0111"
down_revision = "0110"


def upgrade() -> None:
    """Create the index."""
    op.execute(
        "CREATE INDEX ix_jobs_scheduled ON jobs (state, scheduled_at, id, schedule, backfill, real_at)"
        " WHERE scheduled_at IS NOT NULL"
    )
