"""The turn of one submitter: of all processes that submit runs to an instance, one at a time decides.

A lock of the operating system or of PostgreSQL, so that it ends with the process, however that ends. SQLite
files are on one machine, and so are the processes that use them.
"""

import fcntl
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from dagster import DagsterInstance
from dagster._core.storage.runs import SqliteRunStorage, SqlRunStorage

LOCK_FILE = "submitting.lock"
ADVISORY_LOCK = 0x7375626D69747321
"""The key of PostgreSQL's lock: "submits!" in ASCII."""


@contextmanager
def submitters_turn(instance: DagsterInstance) -> Generator[bool]:
    """Wait for the turn of this thread, and yield whether there are turns.

    There are none where the runs are in a database that is neither SQLite nor PostgreSQL.
    """
    storage = instance.run_storage
    # An instance may wrap its storages; the wrapped one has the connection.
    storage = getattr(storage, "run_storage", storage)
    if isinstance(storage, SqliteRunStorage):
        with Path(instance.root_directory, LOCK_FILE).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield True
    elif isinstance(storage, SqlRunStorage):
        with storage.connect() as connection, _turn_in_database(connection) as exclusive:
            yield exclusive
    else:
        yield False


@contextmanager
def _turn_in_database(connection: sa.Connection) -> Generator[bool]:
    if connection.dialect.name != "postgresql":
        yield False
        return
    connection.execute(sa.select(sa.func.pg_advisory_lock(ADVISORY_LOCK)))
    try:
        yield True
    finally:
        connection.execute(sa.select(sa.func.pg_advisory_unlock(ADVISORY_LOCK)))
