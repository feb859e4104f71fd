"""The counted events of jobs whose events may stop counting.

Counts of an older store are made again when an event joins the job.
"""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "counted_events",
        sa.Column("job", NAME, nullable=False),
        sa.Column("leaf", NAME, nullable=False),
        sa.Column("arrived", sa.BigInteger(), nullable=False),
        sa.Column("event", NAME, nullable=False),
        sa.PrimaryKeyConstraint("job", "leaf", "arrived", "event", name="pk_counted_events"),
    )
