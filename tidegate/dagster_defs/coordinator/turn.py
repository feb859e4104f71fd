"""The turn of one submitter: of all processes that submit runs to an instance, one at a time decides.

A lock of the operating system or of PostgreSQL, so that it ends with the process, however that ends. SQLite
files are on one machine, and so are the processes that use them.

No process waits for long: one that hangs in its turn (it is stopped, or its machine is) costs the others a
few seconds, and then they leave the decision to the queue. PostgreSQL ends its session after `HUNG_SECONDS`.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa
from dagster import DagsterInstance
from sqlalchemy.exc import DBAPIError

from tidegate.dagster_defs.internals.run_storage import SqliteRunStorage, SqlRunStorage
from tidegate.scheduler.store.lock_holder import try_lock

LOCK_FILE = "submitting.lock"
ADVISORY_LOCK = 0x7375626D69747321
"""The key of PostgreSQL's lock: "submits!" in ASCII."""

WAIT_SECONDS = 5.0
"""How long a submitter waits for its turn: a turn takes some ten milliseconds."""

LOOK_SECONDS = 0.02

HUNG_SECONDS = 20
"""How long PostgreSQL lets a submitter keep its turn: a launch asks the database several times."""

SESSION_LIMITS = (14,)
"""The version of PostgreSQL from which an idle session outside of a transaction has a limit."""


@contextmanager
def submitters_turn(instance: DagsterInstance) -> Generator[bool]:
    """Wait a few seconds for the turn of this thread, and yield whether it has it.

    There are no turns where the runs are in a database that is neither SQLite nor PostgreSQL.
    """
    storage = instance.run_storage
    # An instance may wrap its storages; the wrapped one has the connection.
    storage = getattr(storage, "run_storage", storage)
    if isinstance(storage, SqliteRunStorage):
        with Path(instance.root_directory, LOCK_FILE).open("a") as file:
            yield _is_soon(lambda: try_lock(file))
    elif isinstance(storage, SqlRunStorage):
        with storage.connect() as connection, _turn_in_database(connection) as exclusive:
            yield exclusive
    else:
        yield False


def _is_soon(take: Callable[[], bool]) -> bool:
    """Try until a lock is taken, or for `WAIT_SECONDS`; return whether it is."""
    until = time.monotonic() + WAIT_SECONDS
    while not take():
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_SECONDS)
    return True


@contextmanager
def _turn_in_database(connection: sa.Connection) -> Generator[bool]:
    if connection.dialect.name != "postgresql":
        yield False
        return
    take = sa.select(sa.func.pg_try_advisory_lock(ADVISORY_LOCK))
    if not _is_soon(lambda: bool(connection.scalar(take))):
        yield False
        return
    limited = (connection.dialect.server_version_info or ()) >= SESSION_LIMITS
    if limited:
        connection.exec_driver_sql(f"SET idle_session_timeout = '{HUNG_SECONDS}s'")
    try:
        yield True
    finally:
        # The server may have ended a session that was idle for too long, and with it the turn.
        with suppress(DBAPIError):
            connection.execute(sa.select(sa.func.pg_advisory_unlock(ADVISORY_LOCK)))
            if limited:
                connection.exec_driver_sql("RESET idle_session_timeout")
