"""An index of the first digits of the hashes of jobs, by which people name them: no list reads all ids."""

from alembic import op

revision = "0102"
down_revision = "0101"


def upgrade() -> None:
    """Create the index."""
    op.execute("CREATE INDEX ix_jobs_short ON jobs (substr(id, length(id) - 11, 8))")
