"""Events that repeat an earlier one for one schedule, such as those of `tidegate events replay`."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the columns; every event that exists is a fact of its own."""
    op.add_column("events", sa.Column("origin", NAME))
    op.add_column("events", sa.Column("only_for", NAME))
