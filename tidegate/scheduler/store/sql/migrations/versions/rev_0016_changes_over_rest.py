"""What a call changed of a schedule: its revision, its source, and since when it is suspended."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Add the columns; since when a schedule of an older store is suspended is not known."""
    op.add_column("schedules", sa.Column("revision", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("schedules", sa.Column("source", sa.Text(), nullable=False, server_default="deploy"))
    op.add_column(
        "schedules", sa.Column("overridden", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("schedules", sa.Column("suspended_at", sa.BigInteger(), nullable=True))
