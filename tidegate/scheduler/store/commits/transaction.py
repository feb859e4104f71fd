"""Transactions on the tables of commit sequences: one writer at a time, in either database.

In SQLite a writing transaction begins with the file's write lock, as that of a tick does. In PostgreSQL it
begins by writing the one row of `commit_tokens`, which is a row lock, and READ COMMITTED then shows all
committed rows. It is not the lock of the ticks: a Spark driver that hangs in a transaction must not stop
the scheduler, and the server ends its transaction after a timeout.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, Table
from sqlalchemy.dialects import sqlite

from tidegate.scheduler.store.sql.commit_tables import commit_tokens
from tidegate.scheduler.store.sql.connection.engine import (
    COMMIT_HUNG_SECONDS,
    for_one_look,
    for_writing,
    has_changed,
    lock_within_limits,
)
from tidegate.scheduler.store.sql.connection.lock import (
    MAYBE_KEPT,
    NOTHING_KEPT,
    connect_and_lock,
    store_errors,
)
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.totals import CHANGES, COMMITS, NAMES, totals

LOCK = (
    f"INSERT INTO {commit_tokens.name} (id, value) VALUES (1, 0)"
    f" ON CONFLICT (id) DO UPDATE SET value = {commit_tokens.name}.value"
)
"""Writes the one row of the table, and changes nothing in it."""


@contextmanager
def writing(engine: Engine) -> Generator[Connection]:
    """Open the only writing transaction, and commit it at the end.

    Raises:
        StoreError: the database failed, or other writers held the lock for too long.
    """
    one_lock = for_writing(engine) if engine.dialect.name == "sqlite" else engine
    with store_errors(engine, NOTHING_KEPT), connect_and_lock(one_lock, _lock) as connection:
        yield connection
        if has_changed(connection):
            bulk.insert(connection, totals, NAMES, [(CHANGES, COMMITS, "", "", 1)], on_conflict="add")
        with store_errors(engine, MAYBE_KEPT):
            connection.commit()


@contextmanager
def reading(engine: Engine) -> Generator[Connection]:
    """Open a connection that only reads, each time what is committed, and never waits for writers.

    Raises:
        StoreError: the database failed.
    """
    with _reading_errors(engine), for_one_look(engine).connect() as connection:
        yield connection


def _reading_errors(engine: Engine) -> AbstractContextManager[None]:
    return store_errors(engine, "repair the database, and try again", writes=False)


def insert_absent(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> int:
    """Insert the rows whose key does not exist, and return their number."""
    if not rows:
        return 0
    return connection.execute(_insert(connection, table).values(rows).on_conflict_do_nothing()).rowcount


def insert_each_absent(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows whose key does not exist, however many rows there are."""
    if rows:
        connection.execute(_insert(connection, table).on_conflict_do_nothing(), rows)


def insert_or_replace(connection: Connection, table: Table, row: dict[str, Any]) -> None:
    """Write a row; replace an existing row with its key."""
    keys = [column.name for column in table.primary_key]
    rest = {name: value for name, value in row.items() if name not in keys}
    insert = _insert(connection, table).values(row)
    connection.execute(insert.on_conflict_do_update(index_elements=keys, set_=rest))


def _lock(connection: Connection) -> None:
    lock_within_limits(connection, LOCK, COMMIT_HUNG_SECONDS)


def _insert(connection: Connection, table: Table) -> Any:
    if connection.dialect.name != "postgresql":
        return sqlite.insert(table)
    # It imports all drivers of PostgreSQL.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)
