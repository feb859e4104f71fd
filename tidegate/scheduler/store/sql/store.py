"""The store in SQL: SQLite for one machine, PostgreSQL for several.

It only opens and closes transactions; `sql.reader` and `sql.writer` do the rest.
It never retries a transaction by itself: what ran in it may have had effects. Only its
beginning, before anything was done, is tried again.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DatabaseError, DBAPIError, InterfaceError, OperationalError, PendingRollbackError

from tidegate.scheduler.store.error import StoreAway, StoreError
from tidegate.scheduler.store.lock_holder import lock_holder
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.connection.engine import (
    BEGIN_ATTEMPTS,
    BUSY_SECONDS,
    for_reading,
    for_writing,
)
from tidegate.scheduler.store.sql.connection.read_only import file_of, not_permitted, refused
from tidegate.scheduler.store.sql.connection.shown_url import shown
from tidegate.scheduler.store.sql.reader import SqlReader
from tidegate.scheduler.store.sql.snapshot import SnapshotReader
from tidegate.scheduler.store.sql.writer import SqlTransaction

CLOCK_SECONDS = 60
"""From one question about the time of the server to the next."""

CLOCK_STEP = timedelta(seconds=1)
"""What the clock of a process may be wrong by between two questions."""

WAL_WRITE_LOCK = 120
"""The byte of SQLite's file `-shm` that a writer locks."""

LOCK_TIMEOUTS = ("database is locked", "canceling statement due to lock timeout")
"""What SQLite and PostgreSQL say when another writer held the lock for too long."""

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


def begin_writing(engine: Engine) -> Connection:
    """A connection within a transaction that holds the store's write lock; commit and close it.

    Raises:
        StoreError: other writers held the lock all the time.
    """
    return connect_and_lock(for_writing(engine), Connection.begin)


def connect_and_lock(engine: Engine, lock: Callable[[Connection], object]) -> Connection:
    """A connection on which `lock` got the lock that it waits for; commit and close it.

    Raises:
        StoreError: other writers held the lock all the time.
    """
    for _ in range(BEGIN_ATTEMPTS):
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
    seconds = f"{BEGIN_ATTEMPTS * BUSY_SECONDS} s"
    raise StoreError(
        f"the store {shown(engine.url)} stayed locked for {seconds}" + (f" by {holder}" if holder else ""),
        f"{'end that process' if holder else 'find the process that holds a transaction open, and end it'}:"
        " what it has not committed is rolled back, and everything else is kept",
    )


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


class SqlStore:
    """See `Store`.

    Attributes:
        engine: for other tables of the same database, such as those of commit sequences.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @contextmanager
    def reading(self) -> Generator[SqlReader]:
        """See `Store.reading`."""
        with (
            store_errors(self.engine, NOTHING_KEPT, writes=False),
            for_reading(self.engine).connect() as connection,
            connection.begin(),
        ):
            yield SnapshotReader(connection)

    @contextmanager
    def transaction(self) -> Generator[SqlTransaction]:
        """See `Store.transaction`."""
        with store_errors(self.engine, NOTHING_KEPT), begin_writing(self.engine) as connection:
            # Closing a connection rolls back whatever was not committed.
            transaction = SqlTransaction(connection)
            yield transaction
            transaction.settle()
            with store_errors(self.engine, MAYBE_KEPT):
                connection.commit()

    def close(self) -> None:
        """See `Store.close`."""
        self.engine.dispose()


def clock_difference(store: Store, now: datetime) -> timedelta:
    """Return by how much the clock of this process is ahead of the server's, negative if it is behind.

    Zero for a store without a server: it is on this machine.

    Args:
        now: by the clock of this process.
    """
    if not isinstance(store, SqlStore) or store.engine.dialect.name != "postgresql":
        return timedelta(0)
    began = time.monotonic()
    with store_errors(store.engine, NOTHING_KEPT, writes=False), store.engine.connect() as connection:
        server: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    # The answer may have been on its way for as long as the question took.
    took, ahead = timedelta(seconds=time.monotonic() - began), now - server
    return ahead if ahead > timedelta(0) else min(ahead + took, timedelta(0))


class ServerClock:
    """By how much the clock of this process differs from the server's; it is asked once a minute.

    It is asked at once where the clock of this process was put forward or back since, and while it differs.
    """

    def __init__(self) -> None:
        self._asked: tuple[float, datetime] | None = None

    def difference(self, store: Store, now: datetime) -> timedelta:
        """Return what `clock_difference` does, to `CLOCK_STEP`."""
        steady = time.monotonic()
        if self._asked is not None:
            passed = steady - self._asked[0]
            moved = now - self._asked[1] - timedelta(seconds=passed)
            if passed < CLOCK_SECONDS and abs(moved) < CLOCK_STEP:
                return timedelta(0)
        difference = clock_difference(store, now)
        self._asked = (steady, now) if abs(difference) < CLOCK_STEP else None
        return difference
