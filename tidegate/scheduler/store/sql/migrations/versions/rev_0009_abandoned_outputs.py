"""Records of single outputs of abandoned commits."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the table. It may exist already, where a run without a deployment keeps its commits."""
    op.create_table(
        "commit_outputs",
        sa.Column("sequence", sa.Text(), nullable=False),
        sa.Column("dataset", sa.Text(), nullable=False),
        sa.Column("published", sa.Text()),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sequence", "dataset", name="pk_commit_outputs"),
        if_not_exists=True,
    )
