"""Connections to the two databases, and how a transaction begins in each of them.

SQLite: Python's driver would begin a transaction too late and without the write lock, so this
module disables that and issues every BEGIN: IMMEDIATE for a writer, so that writers queue, and
deferred for a reader, which sees one snapshot of the WAL. PostgreSQL: a writer takes one advisory
lock first, so READ COMMITTED then shows all committed rows; a reader uses REPEATABLE READ, READ ONLY.

A lock has a limit for its holder, too: PostgreSQL ends the session of a writer that sends nothing for
`HUNG_SECONDS` within its transaction (a stopped process), and one whose machine does not answer (`ALIVE`).
"""

import sqlite3
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import OperationalError

BUSY_SECONDS = 15
"""How long one attempt to begin waits for another writer."""

LOOK_SECONDS = 0.003
"""How often a writer that waits looks for SQLite's lock. SQLite itself soon looks ten times a second, so that
one that takes the lock again at once (a server with reports) would be ahead of it for seconds."""

LOCKED = "database is locked"
"""What SQLite says when another writer holds the lock."""

BEGIN_WRITING = "BEGIN IMMEDIATE"

BEGIN_ATTEMPTS = 4
"""Attempts before a store counts as locked: a minute in all, longer than any tick."""

CONNECT_SECONDS = 10
"""How long a PostgreSQL server may take to answer a new connection."""

HUNG_SECONDS = 15
"""How long a writer may compute between two statements before the server ends its transaction: as long as
one attempt of another one to begin. A tick asks the store at each of its instants."""

COMMIT_HUNG_SECONDS = 45
"""The same for a driver in a commit transaction (`store.commits`): shorter than other writers wait."""

ALIVE = {"idle": 5, "interval": 2, "count": 3}
"""TCP keepalives, in seconds and tries: both sides know after eleven seconds that the other machine is away.
The system's own default is more than two hours."""

UNANSWERED_MILLISECONDS = 11_000
"""How long data that was sent may stay without an answer, in which time TCP sends no keepalives."""

CONNECTING: dict[str, Any] = {
    "connect_timeout": CONNECT_SECONDS,
    "application_name": "tidegate",
    "tcp_user_timeout": UNANSWERED_MILLISECONDS,
    **{f"keepalives_{name}": value for name, value in ALIVE.items()},
}
"""How a client of PostgreSQL connects."""

SQLITE_CACHE_KIB = 32 * 1024
"""The page cache of a connection: it holds the inner index pages of millions of rows, so that a tick of
thousands of events does not read them again for each row. SQLite's default of 2 MiB is too small."""

ADVISORY_LOCK = 0x7469646567617465
"""The key of PostgreSQL's lock for the writers of a store: "tidegate" in ASCII."""

WRITES = "tidegate_writes"
"""The execution option that selects the kind of BEGIN."""

HURRY_SECONDS = "tidegate_hurry_seconds"
"""The execution option of a writer that waits for others only so long, instead of `BUSY_SECONDS`."""

CHANGED = "tidegate_changed"
"""Whether the open transaction has changed a row that pages show; in the `info` of its connection."""

WRITTEN = "tidegate_written"
"""The tables of which the open transaction has written rows; likewise."""

LOCK_TABLES = ("cursors", "commit_tokens")
"""Tables whose writes do not count: `set_cursor` decides about marks of progress, and the other is a lock."""


def sqlite_engine(url: URL) -> Engine:
    """Return an engine for a SQLite file, with the file in WAL mode."""
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    event.listen(engine, "after_cursor_execute", _note_change)
    return engine


def postgres_engine(url: URL) -> Engine:
    """Return an engine for a PostgreSQL database."""
    # Of no use to a process with another one.
    from tidegate.scheduler.store.sql.connection.kept import look_at_kept
    from tidegate.scheduler.store.sql.connection.postponed import take_postponed_along

    engine = create_engine(
        url,
        # Each new connection would ask for a type that no table has.
        use_native_hstore=False,
        # What the URL says itself comes first.
        connect_args={name: value for name, value in CONNECTING.items() if name not in url.query},
    )
    # A server that was restarted leaves dead connections in the pool.
    look_at_kept(engine)
    take_postponed_along(engine)
    event.listen(engine, "connect", _prepare_postgres)
    event.listen(engine, "begin", _begin_postgres)
    event.listen(engine, "after_cursor_execute", _note_change)
    return engine


def for_writing(engine: Engine, hurry_seconds: float | None = None) -> Engine:
    """Return the engine with transactions that hold the store's only write lock from their beginning.

    Args:
        hurry_seconds: how long each attempt to begin waits for other writers; None: `BUSY_SECONDS`.
    """
    hurry = BUSY_SECONDS if hurry_seconds is None else hurry_seconds
    options: dict[str, Any] = {WRITES: True, HURRY_SECONDS: hurry}
    if _is_postgres(engine):
        options["isolation_level"] = "READ COMMITTED"
    return engine.execution_options(**options)


def for_reading(engine: Engine) -> Engine:
    """Return the engine with transactions that see one snapshot and never wait for writers."""
    if not _is_postgres(engine):
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def for_one_look(engine: Engine) -> Engine:
    """Return the engine with a transaction for each statement, which only reads.

    PostgreSQL has a message less at its beginning and at its end, which are most of what a look costs.
    """
    return engine.execution_options(isolation_level="AUTOCOMMIT") if _is_postgres(engine) else engine


def lock_within_limits(
    connection: Connection, lock: str, hung_seconds: float, busy_seconds: float = BUSY_SECONDS
) -> None:
    """Execute the statement by which a writer waits for its lock.

    In one message, since each costs a writer as much as the lock, PostgreSQL limits how long the transaction
    waits for locks, and keeps them between two statements.
    """
    if connection.dialect.name == "postgresql":
        lock = (
            f"SET LOCAL lock_timeout = '{busy_seconds:g}s';"
            f" SET LOCAL idle_in_transaction_session_timeout = '{hung_seconds}s'; {lock}"
        )
    connection.exec_driver_sql(lock)


def _is_postgres(engine: Engine) -> bool:
    return engine.dialect.name == "postgresql"


def _begin_notes(connection: Connection) -> None:
    connection.info[CHANGED], connection.info[WRITTEN] = False, set[str]()


def _prepare_sqlite(connection: Any, record: Any) -> None:
    # None: the driver leaves transactions to us.
    connection.isolation_level = None
    # FULL: a commit that was acknowledged survives a loss of power.
    # A negative cache size counts KiB, a positive one pages.
    for pragma in ("synchronous = FULL", "foreign_keys = ON", f"cache_size = -{SQLITE_CACHE_KIB}"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    _begin_notes(connection)
    options = connection.get_execution_options()
    if not options.get(WRITES, False):
        connection.exec_driver_sql("BEGIN")
        return
    until = monotonic() + options.get(HURRY_SECONDS, BUSY_SECONDS)
    driver: Any = connection.connection.driver_connection
    driver.execute("PRAGMA busy_timeout = 0")
    try:
        if not _has_begun(connection) and not _begins(driver, until):
            connection.exec_driver_sql(BEGIN_WRITING)
    finally:
        # Other statements wait as SQLite does, and the connection goes back to the pool, if it is still open.
        with suppress(sqlite3.ProgrammingError):
            driver.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")


def _has_begun(connection: Connection) -> bool:
    """Begin with the write lock, unless another writer holds it."""
    try:
        connection.exec_driver_sql(BEGIN_WRITING)
    except OperationalError as error:
        if str(error.orig) != LOCKED:
            raise
        return False
    return True


def _begins(driver: sqlite3.Connection, until: float) -> bool:
    """Look for the lock until it is free, or until something else is wrong.

    By the driver alone, which needs half of what a statement that fails costs with SQLAlchemy.
    """
    while monotonic() < until:
        sleep(LOOK_SECONDS)
        try:
            driver.execute(BEGIN_WRITING)
        except sqlite3.OperationalError as error:
            if str(error) != LOCKED:
                return False
        else:
            return True
    return False


def _prepare_postgres(connection: Any, record: Any) -> None:
    """Let the server, too, notice a machine that is away; on a socket of this machine it ignores this."""
    limits = {f"tcp_keepalives_{name}": value for name, value in ALIVE.items()}
    limits["tcp_user_timeout"] = UNANSWERED_MILLISECONDS
    with connection.cursor() as cursor:
        cursor.execute("; ".join(f"SET {name} = {value}" for name, value in limits.items()))
    connection.commit()


def _begin_postgres(connection: Connection) -> None:
    _begin_notes(connection)
    options = connection.get_execution_options()
    if options.get(WRITES, False):
        lock = f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK})"
        lock_within_limits(connection, lock, HUNG_SECONDS, options[HURRY_SECONDS])


def _note_change(
    connection: Connection, cursor: Any, _sent: str, _parameters: Any, context: Any, *_of_it: Any
) -> None:
    """Note a statement that has inserted, updated or deleted a row.

    Its own text, as of the message that was sent others may be part, which are noted already.
    """
    statement: str = context.statement
    if not statement.startswith(("INSERT", "UPDATE", "DELETE")) or cursor.rowcount == 0:
        return
    first, second, third = (*statement.split(None, 3), "", "")[:3]
    note_written(connection, (second if first == "UPDATE" else third).strip('"'))


def has_changed(connection: Connection) -> bool:
    """Return whether the open transaction has changed a row that pages show."""
    return bool(connection.info.get(CHANGED))


def note_written(connection: Connection, table: str) -> None:
    """Note that the open transaction has written a row of a table."""
    connection.info[WRITTEN].add(table)
    if table not in LOCK_TABLES:
        connection.info[CHANGED] = True
