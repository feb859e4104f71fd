"""Reports of partitions from outside, with what Dagster's log lacks of them."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "partitions_reports",
        sa.Column("id", NAME, nullable=False),
        sa.Column("project", NAME, nullable=False),
        sa.Column("dataset", NAME, nullable=False),
        sa.Column("asked", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("partitions", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("owed_since", sa.BigInteger(), nullable=True),
        sa.Column("sent", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_partitions_reports"),
    )
    op.create_index("ix_partitions_reports_at", "partitions_reports", ["at"])
    op.create_index("ix_partitions_reports_owed", "partitions_reports", ["project", "owed_since"])
