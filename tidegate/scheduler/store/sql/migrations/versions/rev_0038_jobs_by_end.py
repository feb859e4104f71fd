"""Jobs by their end: what failed in the last hours is found, however long before it was opened."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"

HAS_ENDED = sa.text("ended_at IS NOT NULL")


def upgrade() -> None:
    """Add one index."""
    op.create_index(
        "ix_jobs_ended",
        "jobs",
        ["state", "ended_at"],
        sqlite_where=HAS_ENDED,
        postgresql_where=HAS_ENDED,
    )
