"""Alerts in the outbox, and the incidents that join them."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0017"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "incidents",
        sa.Column("id", NAME, nullable=False),
        sa.Column("project", NAME, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("said", sa.Integer(), nullable=False),
        sa.Column("alarmed", sa.Boolean(), nullable=False),
        sa.Column("open", sa.Text(), nullable=False),
        sa.Column("last", sa.Text(), nullable=False),
        sa.Column("quiet_until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_incidents"),
    )
    op.create_table(
        "alerts",
        sa.Column("id", NAME, nullable=False),
        sa.Column("project", NAME, nullable=False),
        sa.Column("channel", NAME, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", NAME, nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_alerts"),
    )
    op.create_index("ix_alerts_made", "alerts", ["project", "made_at", "id"])
    due = sa.text("next_at IS NOT NULL")
    op.create_index("ix_alerts_due", "alerts", ["project", "next_at"], sqlite_where=due, postgresql_where=due)
