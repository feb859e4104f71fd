"""Events by partition and arrival: the newest event of each partition is found, however many it has."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"

HAS_PARTITION = sa.text("partition IS NOT NULL")


def upgrade() -> None:
    """Add the arrival to an index."""
    op.drop_index("ix_events_partition", table_name="events")
    op.create_index(
        "ix_events_partition",
        "events",
        ["key", "partition", "arrived"],
        sqlite_where=HAS_PARTITION,
        postgresql_where=HAS_PARTITION,
    )
