"""What Alembic runs around the migrations of the store.

The caller brings a connection within a transaction that holds the store's write lock, and
commits it; nothing here opens a connection of its own.
"""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
