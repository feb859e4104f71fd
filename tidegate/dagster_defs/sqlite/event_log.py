"""The event log: Dagster's consolidated one, which has all runs in one file, on connections that are kept."""

from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import Connection

from tidegate.dagster_defs.internals.sqlite_storage import (
    INDEX_SHARD_NAME,
    AlembicVersion,
    ConsolidatedSqliteEventLogStorage,
    EventHandlerFn,
    SqlEventLogStorageMetadata,
    SqliteEventLogStorage,
    SqlPollingEventWatcher,
    check_alembic_revision,
    get_alembic_config,
    sqlite,
    stamp_alembic_rev,
)
from tidegate.dagster_defs.sqlite.connections import Connections

CONSOLIDATED = str(sqlite.__file__)
"""Dagster's alembic.ini of this storage is beside this file."""


class KeptEventLog(ConsolidatedSqliteEventLogStorage):
    """Events in one SQLite file, with connections that are kept."""

    def __init__(self, connections: Connections) -> None:
        """Args:
        connections: to a file that exists.
        """
        self._connections = connections
        self._tables: set[str] = set()
        super().__init__(str(connections.path.parent))
        self._watcher = SqlPollingEventWatcher(self)

    def create(self) -> None:
        """Create the tables. What a process that was killed has created already is left as it is."""
        with self._connect() as connection:
            SqlEventLogStorageMetadata.create_all(connection)
            stamp_alembic_rev(get_alembic_config(CONSOLIDATED), connection)
        self.reindex_events()
        self.reindex_assets()

    def alembic_version(self) -> AlembicVersion:
        """Return the revision of the tables, and the one that this version of Dagster has."""
        with self._connect() as connection:
            return check_alembic_revision(get_alembic_config(CONSOLIDATED), connection)

    @contextmanager
    def _connect(self) -> Generator[Connection]:
        with self._connections.connect() as connection:
            yield connection

    def has_table(self, table_name: str) -> bool:
        """Return whether a table exists; Dagster asks at each write, and never drops one."""
        if table_name not in self._tables:
            if not self._connections.has_table(table_name):
                return False
            self._tables.add(table_name)
        return True

    # Dagster waits for changes of the file. With a connection that is kept they are in the file beside it.

    def watch(self, run_id: str, cursor: str | None, callback: EventHandlerFn) -> None:
        """Call back for each new event of a run."""
        self._watcher.watch_run(run_id, cursor, callback)

    def end_watch(self, run_id: str, handler: EventHandlerFn) -> None:
        """Take back a watch."""
        self._watcher.unwatch_run(run_id, handler)

    def dispose(self) -> None:
        """End all watches."""
        self._watcher.close()


class ShardedEventLog(SqliteEventLogStorage):
    """Dagster's event log with a file for each run, for an instance that has one already.

    The file that all runs share is asked ten times a second by the host, so its connections are kept.
    """

    def __init__(self, folder: str) -> None:
        self._index = Connections(folder, INDEX_SHARD_NAME)
        super().__init__(folder)

    @contextmanager
    def _connect(self, shard: str) -> Generator[Connection]:
        with self._index.connect() if shard == INDEX_SHARD_NAME else super()._connect(shard) as connection:
            yield connection
