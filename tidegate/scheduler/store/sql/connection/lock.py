"""The lock of the store for one writer at a time, and what a failure of the database means."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from sqlalchemy import Connection, Engine, inspect
from sqlalchemy.exc import DatabaseError, DBAPIError, InterfaceError, OperationalError, PendingRollbackError

from tidegate.scheduler.store.error import StoreAway, StoreBusy, StoreError
from tidegate.scheduler.store.lock_holder import lock_holder
from tidegate.scheduler.store.sql.connection.engine import (
    BEGIN_ATTEMPTS,
    BUSY_SECONDS,
    HURRY_SECONDS,
    LOCKED,
    for_writing,
)
from tidegate.scheduler.store.sql.connection.read_only import file_of, not_permitted, refused, shown

WAL_WRITE_LOCK = 120
"""The byte of SQLite's file `-shm` that a writer locks."""

LOCK_TIMEOUTS = (LOCKED, "canceling statement due to lock timeout")
"""What SQLite and PostgreSQL say when another writer held the lock for too long."""

STATEMENT_TIMEOUT = "canceling statement due to statement timeout"

SHORT_WAIT_MILLISECONDS = 400
"""PostgreSQL looks for deadlocks when a session has waited for a second (`deadlock_timeout`)."""

SHORT_WAITS = 20
"""After them the wait is long enough for the server to send away a vacuum, which it does as late."""

AWAY = (
    "Connection refused",
    "Is the server running",
    "the database system is ",
    "terminating connection",
    "closed the connection unexpectedly",
    "has been closed unexpectedly",
    "connection already closed",
    "reset by peer",
    "could not receive data from server",
    "could not send data to server",
    "timeout expired",
)
"""Parts of what PostgreSQL and its driver say while a server is restarted, or another one takes its place."""

NOTHING_KEPT = "nothing of this transaction was kept; repair the database, and try again"
MAYBE_KEPT = "this transaction was kept whole or not at all; repair the database, and try again"
"""A server that disappears at the commit does not say which; writing again is safe."""


def begin_in_a_hurry(engine: Engine, seconds: float) -> Connection:
    """The same as `begin_writing`, for what may wait for other writers only so long.

    Raises:
        StoreBusy: one of them held the lock all the time.
    """
    try:
        return connect_and_lock(for_writing(engine, seconds), Connection.begin, attempts=1)
    except StoreError as error:
        raise StoreBusy(error.message, error.hint) from error


def begin_writing(engine: Engine) -> Connection:
    """A connection within a transaction that holds the store's write lock; commit and close it.

    Raises:
        StoreError: other writers held the lock all the time.
    """
    return connect_and_lock(for_writing(engine), Connection.begin)


def connect_and_lock(
    engine: Engine, lock: Callable[[Connection], object], attempts: int = BEGIN_ATTEMPTS
) -> Connection:
    """A connection on which `lock` got the lock that it waits for; commit and close it.

    Raises:
        StoreError: other writers held the lock all the time.
    """
    for _ in range(attempts):
        connection = engine.connect()
        try:
            lock(connection)
            return connection
        except DBAPIError as error:
            connection.close()
            if not any(said in str(error.orig) for said in LOCK_TIMEOUTS):
                raise
        except BaseException:
            connection.close()
            raise
    holder = writer_of(engine)
    seconds = f"{attempts * engine.get_execution_options().get(HURRY_SECONDS, BUSY_SECONDS):g} s"
    raise StoreError(
        f"the store {shown(engine.url)} stayed locked for {seconds}" + (f" by {holder}" if holder else ""),
        f"{'end that process' if holder else 'find the process that holds a transaction open, and end it'}:"
        " what it has not committed is rolled back, and everything else is kept",
    )


def lock_tables(connection: Connection) -> None:
    """Keep readers away from all tables, so that a transaction of a writer may change them.

    A reader of PostgreSQL locks the tables that it reads, in an order of its own. If it waits for one that
    this has, and this for one that it has, the server ends one of the two: a deadlock. So this gives all
    tables back before the server looks for one, and takes them again. SQLite's readers have their snapshot.
    """
    if connection.dialect.name != "postgresql":
        return
    names = ", ".join(f'"{name}"' for name in sorted(inspect(connection).get_table_names()))
    for milliseconds in (*(SHORT_WAIT_MILLISECONDS,) * SHORT_WAITS, BUSY_SECONDS * 1000):
        savepoint = connection.begin_nested()
        try:
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = {milliseconds}")
            connection.exec_driver_sql(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
        except OperationalError as error:
            if milliseconds > SHORT_WAIT_MILLISECONDS or STATEMENT_TIMEOUT not in str(error.orig):
                raise
            savepoint.rollback()
        else:
            connection.exec_driver_sql("SET LOCAL statement_timeout TO DEFAULT")
            savepoint.commit()
            return


def writer_of(engine: Engine) -> str | None:
    """Return the process that writes to a SQLite store now, in words; None if none is known."""
    if engine.dialect.name != "sqlite":
        return None
    return lock_holder(Path(f"{file_of(engine.url)}-shm"), WAL_WRITE_LOCK)


def _is_its_fault(error: Exception) -> bool:
    """Whether the database failed, and not the statement that it was given.

    A driver that loses its server in the middle of an answer raises no more than a `DatabaseError`, whose
    subclasses (integrity, data, programming) are bugs of ours.
    """
    return isinstance(error, OperationalError | InterfaceError | PendingRollbackError) or (
        type(error) is DatabaseError
    )


def is_away(error: Exception) -> bool:
    """Return whether a failure may pass by itself: the server is away, or the connection to it broke."""
    said = str(error.orig if isinstance(error, DBAPIError) else error)
    broken = isinstance(error, DBAPIError) and error.connection_invalidated
    return broken or any(part in said for part in AWAY)


@contextmanager
def store_errors(engine: Engine, hint: str, *, writes: bool = True) -> Generator[None]:
    """Turn failures of the database (a full disk, a server that went away) into a `StoreError`.

    Args:
        writes: whether the user wanted to write, for the message about a missing permission.
    """
    try:
        yield
    except msgspec.MsgspecError as error:
        raise StoreError(
            f"a row of the store {shown(engine.url)} cannot be read: {error}",
            "`tidegate doctor` names the row; restore it, or deploy again what it is about",
        ) from error
    except (DatabaseError, InterfaceError, PendingRollbackError) as error:
        if isinstance(error, DBAPIError) and refused(str(error.orig)):
            raise not_permitted(engine.url, str(error.orig).strip(), writes=writes) from error
        if not _is_its_fault(error):
            raise
        said = error.orig if isinstance(error, DBAPIError) else error
        kind = StoreAway if is_away(error) else StoreError
        raise kind(f"the store {shown(engine.url)} failed: {str(said).strip()}", hint) from error
