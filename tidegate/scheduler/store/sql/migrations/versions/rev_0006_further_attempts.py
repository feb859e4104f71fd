"""Further attempts of jobs whose run failed: how many, from when, and the run that failed.

Jobs of an older store have had none.
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("jobs", sa.Column("retried", sa.Integer, nullable=False, server_default=sa.text("0")))
    op.add_column("jobs", sa.Column("retry_at", sa.BigInteger))
    op.add_column("jobs", sa.Column("raised", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("jobs", sa.Column("failed_run", sa.Text))
