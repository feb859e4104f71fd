"""The storages of runs, and of ticks and switches: Dagster's, on connections that are kept."""

from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import Connection

from tidegate.dagster_defs.internals.run_storage import SqliteRunStorage
from tidegate.dagster_defs.internals.sqlite_storage import SqliteScheduleStorage
from tidegate.dagster_defs.sqlite.connections import Connections


class _OnKeptConnections:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        super().__init__(connections.url)  # pyright: ignore[reportCallIssue] -- Dagster's storage has it

    @contextmanager
    def connect(self) -> Generator[Connection]:
        """Yield a connection in a transaction."""
        with self._connections.connect() as connection:
            yield connection


class KeptRunStorage(_OnKeptConnections, SqliteRunStorage):
    """Runs in SQLite, with connections that are kept."""


class KeptScheduleStorage(_OnKeptConnections, SqliteScheduleStorage):
    """Ticks and switches in SQLite, with connections that are kept."""
