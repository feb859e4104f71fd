"""Watched folders, and which files of them were reported."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0021"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "watched_folders",
        sa.Column("dataset", NAME, nullable=False),
        sa.Column("project", NAME, nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("remedy", sa.Text(), nullable=False),
        sa.Column("problem_since", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("dataset", name="pk_watched_folders"),
    )
    op.create_table(
        "watched_partitions",
        sa.Column("dataset", NAME, nullable=False),
        sa.Column("key", NAME, nullable=False),
        sa.Column("files", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("dataset", "key", name="pk_watched_partitions"),
    )
