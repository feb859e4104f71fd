"""Whether anything was committed to a database since the last look, at the cost of one small question.

    SQLite        `PRAGMA data_version` of a connection of our own changes with each commit of another one
    PostgreSQL    `pg_current_snapshot()` changes with each commit on the server

Equal answers mean that nothing was committed in between. The host asks ten times a second, and reads what
there is to do only when an answer differs.
"""

import sqlite3
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from dagster import DagsterInstance

from tidegate.dagster_defs.internals.sql_storages import SqlEventLogStorage, events_of
from tidegate.dagster_defs.sqlite.connections import identity_of
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.connection.engine import for_one_look


class Changes:
    """Looks at the schedule store and at Dagster's event log."""

    def __init__(self, instance: DagsterInstance) -> None:
        self._events = events_of(instance)
        self._files: dict[str, _File] = {}

    def token(self, store: Store) -> tuple[object, ...] | None:
        """Return a value that changes with each commit to one of both; None where that is not known."""
        if not isinstance(self._events, SqlEventLogStorage):
            return None
        engine: sa.Engine | None = getattr(store, "engine", None)
        if engine is None:
            return None
        connect = for_one_look(engine).connect
        parts = (self._part(engine.url, connect), self._part(None, self._events.index_connection))
        return None if None in parts else parts

    def close(self) -> None:
        """Close the connections of its own."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _part(self, url: sa.URL | None, connect: Any) -> object | None:
        known = self._files.get(str(url))
        if known is not None:
            return known.version()
        with _opened(connect) as connection:
            if connection.dialect.name == "postgresql":
                return connection.execute(sa.text("SELECT pg_current_snapshot()::text")).scalar_one()
            database = connection.engine.url.database or ""
        if connection.dialect.name == "sqlite" and Path(database).is_file():
            self._files[str(url)] = _File(database)
            return self._files[str(url)].version()
        return None


def _opened(connect: Any) -> AbstractContextManager[sa.Connection]:
    return connect()


class _File:
    """A SQLite file, with a connection that only looks at its version."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._identity: object = None
        self._connection: sqlite3.Connection | None = None

    def version(self) -> object:
        """Return a value that changes with each commit of others, and with another file under this name."""
        identity = identity_of(self._path)
        if identity is None:
            # To connect would make an empty file.
            raise FileNotFoundError(self._path)
        if self._connection is None or identity != self._identity:
            self.close()
            self._connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            self._identity = identity
        return identity, self._connection.execute("PRAGMA data_version").fetchone()[0]

    def close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
