"""The storage of ticks and switches: Dagster's, on connections that are kept."""

from collections.abc import Generator
from contextlib import contextmanager

from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from sqlalchemy import Connection

from tidegate.dagster_defs.sqlite.connections import Connections


class KeptScheduleStorage(SqliteScheduleStorage):
    """Ticks and switches in SQLite, with connections that are kept."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        super().__init__(connections.url)

    @contextmanager
    def connect(self) -> Generator[Connection]:
        """Yield a connection in a transaction."""
        with self._connections.connect() as connection:
            yield connection
