"""Jobs by reason: the newest ones of a rare reason are found without a look at all others."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"

HAS_REASON = sa.text("reason IS NOT NULL")


def upgrade() -> None:
    """Add the index."""
    op.create_index(
        "ix_jobs_reason",
        "jobs",
        ["reason", "opened_at", "id"],
        sqlite_where=HAS_REASON,
        postgresql_where=HAS_REASON,
    )
