"""Kept counts of waiting jobs. Those of an older store are counted again when an event joins the job."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "tallies",
        sa.Column("job", NAME, nullable=False),
        sa.Column("basis", sa.Text(), nullable=False),
        sa.Column("tally", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("job", name="pk_tallies"),
    )
    op.create_table(
        "tallied_keys",
        sa.Column("job", NAME, nullable=False),
        sa.Column("key", NAME, nullable=False),
        sa.Column("leaf", NAME, nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("job", "key", "leaf", name="pk_tallied_keys"),
    )
