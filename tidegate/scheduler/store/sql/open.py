"""Opens a store in SQL: understands the URL, makes the folder of a SQLite file, checks the schema.

Whatever a person can put right becomes a `StoreError` with a remedy; a password never gets
into a message.
"""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from sqlalchemy import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from tidegate.scheduler.store.error import StoreAway, StoreError, StoreMissing
from tidegate.scheduler.store.sql.connection.engine import BEGIN_ATTEMPTS, postgres_engine, sqlite_engine
from tidegate.scheduler.store.sql.connection.lock import is_away
from tidegate.scheduler.store.sql.connection.read_only import closed_read_only, not_permitted, refused, shown
from tidegate.scheduler.store.sql.schema import bring_up_to_date
from tidegate.scheduler.store.sql.store import SqlStore

URL_FORMS = "write sqlite:///relative/path.db, sqlite:////absolute/path.db or postgresql://user@host/database"


def open_sql_store(
    url: str, *, create: bool = True, migrate: bool = True, may_be_unreleased: bool = False
) -> SqlStore:
    """The store at a URL of SQLite or PostgreSQL; see `open_store`."""
    engine = _engine(_parsed(url), create=create)
    try:
        if engine.dialect.name == "sqlite":
            _use_wal(engine)
        bring_up_to_date(engine, create=create, may_migrate=migrate, may_be_unreleased=may_be_unreleased)
    except (DBAPIError, sqlite3.Error) as error:
        engine.dispose()
        said = str(error.orig if isinstance(error, DBAPIError) else error).strip()
        if refused(said):
            raise not_permitted(engine.url, said, writes=create) from error
        kind = StoreAway if is_away(error) else StoreError
        raise kind(
            f"the store {shown(engine.url)} cannot be used: {said}",
            "check the address, the server and the permissions",
        ) from error
    except BaseException:
        engine.dispose()
        raise
    return SqlStore(engine)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        # Not repeated in the message: it may hold a password.
        raise StoreError("the store's address is not a URL", URL_FORMS) from None
    if parsed.drivername in ("postgres", "postgresql"):
        return parsed.set(drivername="postgresql+psycopg2")
    if parsed.drivername in ("sqlite", "sqlite+pysqlite", "postgresql+psycopg2"):
        return parsed
    raise StoreError(f"a store cannot be kept in {parsed.drivername!r}", URL_FORMS)


def _engine(url: URL, *, create: bool) -> Engine:
    if url.get_backend_name() == "postgresql":
        try:
            return postgres_engine(url)
        except ModuleNotFoundError as error:
            raise StoreError(
                f"PostgreSQL needs the package {error.name}", "install tidegate[postgres]"
            ) from error
    if url.database in (None, "", ":memory:"):
        raise StoreError("a SQLite store needs a file", URL_FORMS)
    file = Path(str(url.database))
    if not create and not file.exists():
        raise StoreMissing(f"there is no store at {file}", "deploy first: `tidegate deploy` makes it")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder of the store {file} cannot be made: {error.strerror}",
            "choose another place for it, or repair the permissions",
        ) from error
    if create:
        _create_private(file)
    return sqlite_engine(closed_read_only(url) or url)


def _create_private(file: Path) -> None:
    """Create the file of a new store for its user only. SQLite gives `-wal` and `-shm` the same permissions.

    The store has arguments, events and the journal. A file that exists keeps the permissions it was given.
    What cannot be created is left to SQLite, which says why.
    """
    with suppress(OSError):
        os.close(os.open(os.path.realpath(file), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _use_wal(engine: Engine) -> None:
    """Put the file into WAL mode, which it then keeps.

    Two processes that do so at once on a new file can meet SQLite's only lock that does not
    wait; the loser tries again, and finds it done.
    """
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        for attempt in range(1, BEGIN_ATTEMPTS + 1):
            try:
                if cursor.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                    cursor.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or attempt == BEGIN_ATTEMPTS:
                    raise
                # Begin and end a write: that lock does wait, so afterwards the other one has finished.
                cursor.execute("BEGIN IMMEDIATE")
                cursor.execute("ROLLBACK")
    finally:
        connection.close()
