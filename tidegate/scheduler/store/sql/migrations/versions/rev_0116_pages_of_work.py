"""An index of the jobs of maintenance in their order: a list of them read all jobs."""

from alembic import op

revision = "0116"
down_revision = "0115"


def upgrade() -> None:
    """Create the index."""
    op.execute("CREATE INDEX ix_jobs_maintenance ON jobs (opened_at, id) WHERE maintenance IS NOT NULL")
