"""A SQLite store for thousands of histories: one file, wiped between them, and never flushed to the disk.

Nothing here speaks of power cuts: a process that dies loses nothing that the system holds. So
`synchronous` is off, which leaves statements, transactions and rollbacks as they are.
"""

from pathlib import Path
from typing import Any

from sqlalchemy import event

from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore


def quick_sqlite(folder: Path) -> SqlStore:
    """A new and empty store in a folder."""
    store = open_sql_store(f"sqlite:///{folder}/store.db")
    store.engine.dispose()
    event.listen(store.engine, "connect", _do_not_flush)
    return store


def wipe(store: SqlStore) -> None:
    """Empty every table."""
    with store.engine.begin() as connection:
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())


def _do_not_flush(connection: Any, _: object) -> None:
    connection.execute("PRAGMA synchronous = OFF")
