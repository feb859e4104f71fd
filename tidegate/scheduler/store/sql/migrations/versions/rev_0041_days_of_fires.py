"""The events of fires have the day that their cron named."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    """Add the column; of older fires the day is counted again from their crons."""
    op.add_column("events", sa.Column("day", sa.Text()))
