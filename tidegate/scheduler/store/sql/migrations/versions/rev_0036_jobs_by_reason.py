"""Jobs by reason: the newest ones of a rare reason are found, and all are counted, from an index alone."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"

HAS_REASON = sa.text("reason IS NOT NULL")


def upgrade() -> None:
    """Add one index, and the reason to another."""
    op.create_index(
        "ix_jobs_reason",
        "jobs",
        ["reason", "opened_at", "id"],
        sqlite_where=HAS_REASON,
        postgresql_where=HAS_REASON,
    )
    op.drop_index("ix_jobs_app_state", table_name="jobs")
    op.create_index("ix_jobs_app_state", "jobs", ["app", "state", "reason", "opened_at"])
