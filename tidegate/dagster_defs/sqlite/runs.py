"""The run storage: Dagster's, on connections that are kept."""

from collections.abc import Generator
from contextlib import contextmanager

from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from sqlalchemy import Connection

from tidegate.dagster_defs.sqlite.connections import Connections


class KeptRunStorage(SqliteRunStorage):
    """Runs in SQLite, with connections that are kept."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        super().__init__(connections.url)

    @contextmanager
    def connect(self) -> Generator[Connection]:
        """Yield a connection in a transaction."""
        with self._connections.connect() as connection:
            yield connection
