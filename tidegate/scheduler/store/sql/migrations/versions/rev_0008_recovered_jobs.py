"""Jobs whose publish was finished by recovery instead of their run. None of an older store is known to be."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the column."""
    op.add_column("jobs", sa.Column("recovered", sa.Boolean, nullable=False, server_default=sa.false()))
