"""The digest of each app, by which a deployment knows those that are as it wants them."""

from alembic import op

revision = "0112"
down_revision = "0111"


def upgrade() -> None:
    """Add the column; the next deployment writes the digests."""
    op.execute("ALTER TABLE apps ADD COLUMN digest TEXT NOT NULL DEFAULT ''")
