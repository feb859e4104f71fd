"""The store in SQL: SQLite for one machine, PostgreSQL for several.

It only opens and closes transactions; `sql_reader` and `sql_writer` say what happens inside.
It never retries a transaction by itself: what ran in it may have had effects. Only its
beginning, before anything was done, is tried again.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, select
from sqlalchemy.exc import DBAPIError, OperationalError

from scheduler.store import tables
from scheduler.store.dump import dump_values
from scheduler.store.error import StoreError
from scheduler.store.rows import app_of, entry_of, event_of, gauge_of, job_of, run_of, schedule_of
from scheduler.store.sql_engine import BEGIN_ATTEMPTS, BUSY_SECONDS, for_reading, for_writing
from scheduler.store.sql_reader import SqlReader
from scheduler.store.sql_writer import SqlTransaction

LOCK_TIMEOUTS = ("database is locked", "canceling statement due to lock timeout")
"""What SQLite and PostgreSQL say when another writer held the lock for too long."""


def begin_writing(engine: Engine) -> Connection:
    """A connection within a transaction that holds the store's write lock; commit and close it.

    Raises:
        StoreError: other writers held the lock all the time.
    """
    writing = for_writing(engine)
    for _ in range(BEGIN_ATTEMPTS):
        connection = writing.connect()
        try:
            connection.begin()
            return connection
        except DBAPIError as error:
            connection.close()
            if not any(said in str(error.orig) for said in LOCK_TIMEOUTS):
                raise
        except BaseException:
            connection.close()
            raise
    raise StoreError(
        f"the store {engine.url.render_as_string()} stayed locked for {BEGIN_ATTEMPTS * BUSY_SECONDS} s",
        "find the process that holds a transaction open, and end it",
    )


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
        with self._told(), for_reading(self.engine).connect() as connection, connection.begin():
            yield SqlReader(connection)

    @contextmanager
    def transaction(self) -> Generator[SqlTransaction]:
        """See `Store.transaction`."""
        with self._told(), begin_writing(self.engine) as connection:
            # Closing a connection rolls back whatever was not committed.
            yield SqlTransaction(connection)
            connection.commit()

    @contextmanager
    def _told(self) -> Generator[None]:
        """Say what the database cannot do (a full disk, a server that went away) as a `StoreError`."""
        try:
            yield
        except OperationalError as error:
            raise StoreError(
                f"the store {self.engine.url.render_as_string()} failed: {str(error.orig).strip()}",
                "nothing of this transaction was kept; repair the database, and try again",
            ) from error

    def close(self) -> None:
        """See `Store.close`."""
        self.engine.dispose()

    def dump(self) -> Mapping[str, Any]:
        """See `Dumpable.dump`."""
        with for_reading(self.engine).connect() as connection, connection.begin():

            def rows(table: Any, *columns: Any) -> list[Any]:
                return list(connection.execute(select(*(columns or (table,)))).mappings())

            event, delivery = tables.events, tables.deliveries
            unrouted = select(event.c.id).where(event.c.unrouted_since.is_not(None))
            ordered = select(tables.journal).order_by(tables.journal.c.number)
            reader = SqlReader(connection)
            names = [row["name"] for row in rows(tables.cursors, tables.cursors.c.name)]
            return dump_values(
                apps=[app_of(row) for row in rows(tables.apps)],
                schedules=[schedule_of(row) for row in rows(tables.schedules)],
                subscriptions=[dict(row) for row in rows(tables.subscriptions)],
                events=[event_of(row) for row in rows(event)],
                unrouted=connection.execute(unrouted).scalars(),
                deliveries=[
                    [row["event"], row["schedule"], row["leaf"], row["job"] or None, row["reason"], row["at"]]
                    for row in rows(delivery)
                ],
                jobs=[job_of(row) for row in rows(tables.jobs)],
                slots=[[row["resource"], row["holder"]] for row in rows(tables.slots)],
                launches=[[row["program"], row["holder"], row["at"]] for row in rows(tables.launches)],
                gauges=[gauge_of(row) for row in rows(tables.gauges)],
                runs=[run_of(row) for row in rows(tables.runs)],
                claims=[
                    [row["job"], row["attempt"], row["run_id"], row["at"]] for row in rows(tables.claims)
                ],
                cursors=[[name, reader.cursor(name)] for name in names],
                journal=[entry_of(row) for row in connection.execute(ordered).mappings()],
            )
