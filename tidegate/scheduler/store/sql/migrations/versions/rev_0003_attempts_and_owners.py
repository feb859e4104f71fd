"""What commit sequences need to be safe beside each other: attempts, owners, watermarks, the abandoned.

They are separate tables, so sequences that an older version left unfinished stay unchanged: they
have no owner and no failures.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the tables. They may exist already, where a run without a deployment keeps its commits."""
    op.create_index(
        "ix_commit_sequences_unfinished",
        "commit_sequences",
        ["token"],
        sqlite_where=sa.text("result IS NULL"),
        postgresql_where=sa.text("result IS NULL"),
        if_not_exists=True,
    )
    op.create_table(
        "commit_attempts",
        sa.Column("token", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("commit_id", sa.Text(), nullable=False),
        sa.Column("datasets", sa.Text(), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("token", name="pk_commit_attempts"),
        if_not_exists=True,
    )
    op.create_table(
        "commit_owners",
        sa.Column("sequence", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("until", sa.BigInteger()),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("failed_at", sa.BigInteger()),
        _of_sequence("commit_owners"),
        sa.PrimaryKeyConstraint("sequence", name="pk_commit_owners"),
        if_not_exists=True,
    )
    _create_watermarks()
    op.create_table(
        "commit_abandoned",
        sa.Column("sequence", sa.Text(), nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("datasets", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sequence", name="pk_commit_abandoned"),
        if_not_exists=True,
    )
    op.create_index("ix_commit_abandoned_at", "commit_abandoned", ["at"], if_not_exists=True)


def _create_watermarks() -> None:
    op.create_table(
        "commit_moves",
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("sequence", sa.Text(), nullable=False),
        _of_sequence("commit_moves"),
        sa.PrimaryKeyConstraint("consumer", "source", "part", name="pk_commit_moves"),
        if_not_exists=True,
    )
    op.create_index("ix_commit_moves_sequence", "commit_moves", ["sequence"], if_not_exists=True)
    op.create_table(
        "commit_watermarks",
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Text(), nullable=False),
        sa.Column("commit_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("consumer", "source", "part", name="pk_commit_watermarks"),
        if_not_exists=True,
    )


def _of_sequence(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["sequence"],
        ["commit_sequences.id"],
        name=f"fk_{table}_sequence_commit_sequences",
        ondelete="CASCADE",
    )
