"""When a job was noted as late, and which schedules have a deadline."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Add the columns and an index of the schedules with a deadline."""
    op.add_column("jobs", sa.Column("late_at", sa.BigInteger))
    name = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.add_column("schedules", sa.Column("deadline_of", name))
    where = sa.text("deadline_of IS NOT NULL")
    op.create_index(
        "ix_schedules_deadline", "schedules", ["deadline_of"], sqlite_where=where, postgresql_where=where
    )
