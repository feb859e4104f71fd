"""The store in SQL: SQLite for one machine, PostgreSQL for several.

It only opens and closes transactions; `sql.reader` and `sql.writer` do the rest.
It never retries a transaction by itself: what ran in it may have had effects. Only its
beginning, before anything was done, is tried again.
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timedelta

from sqlalchemy import Engine, select

from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.connection.engine import for_one_look, for_reading
from tidegate.scheduler.store.sql.connection.lock import (
    MAYBE_KEPT,
    NOTHING_KEPT,
    begin_in_a_hurry,
    begin_writing,
    store_errors,
)
from tidegate.scheduler.store.sql.known import KnowingReader
from tidegate.scheduler.store.sql.totals import CHANGES, totals
from tidegate.scheduler.store.sql.writer import SqlTransaction

_CHANGES = select(totals.c.number).where(totals.c.kind == CHANGES)

REHEARSAL_WAITS_SECONDS = 1.5
"""As long as a person waits for a page without a doubt that it comes."""

CLOCK_SECONDS = 60
"""From one question about the time of the server to the next."""

CLOCK_STEP = timedelta(seconds=1)
"""What the clock of a process may be wrong by between two questions."""


class SqlStore:
    """A store in a SQL database.

    Attributes:
        engine: for other tables of the same database, such as those of commit sequences.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @contextmanager
    def reading(self) -> Generator[KnowingReader]:
        with (
            store_errors(self.engine, NOTHING_KEPT, writes=False),
            for_reading(self.engine).connect() as connection,
            connection.begin(),
        ):
            yield KnowingReader(connection)

    @contextmanager
    def transaction(self) -> Generator[SqlTransaction]:
        with store_errors(self.engine, NOTHING_KEPT), begin_writing(self.engine) as connection:
            # Closing a connection rolls back whatever was not committed.
            transaction = SqlTransaction(connection)
            yield transaction
            transaction.settle()
            with store_errors(self.engine, MAYBE_KEPT):
                connection.commit()

    @contextmanager
    def rehearsal(self) -> Generator[SqlTransaction]:
        begin = begin_in_a_hurry(self.engine, REHEARSAL_WAITS_SECONDS)
        with store_errors(self.engine, NOTHING_KEPT), begin as connection:
            yield SqlTransaction(connection)

    def changes(self) -> int:
        """Return how many transactions have changed anything: the same number, the same rows."""
        with (
            store_errors(self.engine, NOTHING_KEPT, writes=False),
            for_one_look(self.engine).connect() as connection,
        ):
            return sum(connection.execute(_CHANGES).scalars())

    def close(self) -> None:
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
