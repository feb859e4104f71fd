"""Two indexes have the order in which pages are read.

That of the jobs of an app had them by their reasons. That of the events of a partition had no ids, so SQLite
took the one of all events of the dataset, which has the whole order.
"""

from alembic import op

revision = "0115"
down_revision = "0113"


def upgrade() -> None:
    """Make both again."""
    op.execute("DROP INDEX ix_jobs_app_state")
    op.execute("CREATE INDEX ix_jobs_app_state ON jobs (app, state, opened_at, id, reason)")
    op.execute("DROP INDEX ix_events_partition")
    op.execute(
        'CREATE INDEX ix_events_partition ON events ("key", partition, arrived, id)'
        " WHERE partition IS NOT NULL"
    )
