"""An event may be of several missed fires in a row: their number, and the first of them."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("events", sa.Column("number", sa.Integer(), nullable=False, server_default=sa.text("1")))
    op.add_column("events", sa.Column("first_at", sa.BigInteger()))
