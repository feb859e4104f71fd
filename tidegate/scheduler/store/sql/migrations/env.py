"""What Alembic runs around the migrations of the store.

The caller brings a connection within a transaction that holds the store's write lock, and
commits it; nothing here opens a connection of its own. The metadata is only looked at when
a new revision is compared with the tables.
"""

from alembic import context

from tidegate.scheduler.store.sql import commit_tables, tables
from tidegate.scheduler.store.sql.maintenance import tables as maintenance_tables
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.retention import tables as retention_tables

TABLE_MODULES = (tables, maintenance_tables, retention_tables, commit_tables)
"""Importing them is what fills the metadata."""

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
