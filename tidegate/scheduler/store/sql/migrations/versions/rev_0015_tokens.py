"""Tokens of callers over HTTP."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "tokens",
        sa.Column("name", NAME, nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("app", NAME, nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_tokens"),
    )
