"""Retention: names of what was pruned, sums of the ledger, snapshots, and the order of launches by time."""

import sqlalchemy as sa
from alembic import op

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the tables and the index."""
    op.create_table(
        "pruned",
        sa.Column("kind", NAME, nullable=False),
        sa.Column("id", NAME, nullable=False),
        sa.PrimaryKeyConstraint("kind", "id", name="pk_pruned"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ledger_sums",
        sa.Column("schedule", NAME, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("outcome", NAME, nullable=False),
        sa.Column("reason", NAME, nullable=False),
        sa.Column("events", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("schedule", "day", "outcome", "reason", name="pk_ledger_sums"),
    )
    op.create_table(
        "snapshots",
        sa.Column("number", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_snapshots"),
    )
    op.create_index("ix_snapshots_at", "snapshots", ["at"])
    op.create_index("ix_launches_at", "launches", ["at", "holder"])
    where = sa.text("kind = 'rename'")
    op.create_index("ix_journal_renames", "journal", ["number"], sqlite_where=where, postgresql_where=where)
