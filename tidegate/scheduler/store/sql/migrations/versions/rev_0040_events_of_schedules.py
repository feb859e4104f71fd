"""Deliveries have the arrival of their event; indexes have the events of a schedule or a key in order."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"

OF_SCHEDULE = ["schedule", "arrived", "event", "job", "reason"]


def upgrade() -> None:
    """Add the column, fill it in, and make the indexes again."""
    op.add_column("deliveries", sa.Column("arrived", sa.BigInteger(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE deliveries SET arrived ="
        " coalesce((SELECT events.arrived FROM events WHERE events.id = deliveries.event), 0)"
    )
    op.drop_index("ix_deliveries_schedule", "deliveries")
    op.create_index("ix_deliveries_schedule", "deliveries", OF_SCHEDULE)
    discarded = sa.text("reason IS NOT NULL")
    op.create_index(
        "ix_deliveries_discarded",
        "deliveries",
        OF_SCHEDULE,
        sqlite_where=discarded,
        postgresql_where=discarded,
    )
    op.drop_index("ix_events_key", "events")
    op.create_index("ix_events_key", "events", ["key", "arrived", "id"])
