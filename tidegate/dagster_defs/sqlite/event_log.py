"""Dagster's event log in one SQLite file, with what it does for each event made cheap."""

from collections.abc import Generator
from contextlib import contextmanager

import sqlalchemy as sa
from dagster import EventLogEntry
from sqlalchemy import Connection

from tidegate.dagster_defs.internals.new_runs import AssetKeyTable
from tidegate.dagster_defs.internals.sql_storages import SqlEventLogStorageTable
from tidegate.dagster_defs.internals.sqlite_storage import (
    ASSET_CHECK_EVENTS,
    ASSET_EVENTS,
    AlembicVersion,
    ConsolidatedSqliteEventLogStorage,
    EventHandlerFn,
    SqlEventLogStorageMetadata,
    SqlPollingEventWatcher,
    check_alembic_revision,
    get_alembic_config,
    sqlite,
    stamp_alembic_rev,
)
from tidegate.dagster_defs.sqlite.connections import Connections

CONSOLIDATED = str(sqlite.__file__)
"""Dagster's alembic.ini of this storage is beside this file."""

_INSERT = sa.insert(SqlEventLogStorageTable)


class KeptEventLog(ConsolidatedSqliteEventLogStorage):
    """Events in one SQLite file, with connections that are kept."""

    def __init__(self, connections: Connections) -> None:
        """Args:
        connections: to a file that exists.
        """
        self._connections = connections
        self._tables: set[str] = set()
        self._has_columns = False
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

    def store_event(self, event: EventLogEntry) -> None:
        """Write an event and what its asset has of it, in one transaction, by statements that are kept.

        Dagster builds each statement again, which costs more than to write. A trivial run has 14 events.
        """
        if event.dagster_event_type in ASSET_CHECK_EVENTS:
            super().store_event(event)
            return
        with self._connect() as connection:
            written = connection.execute(_INSERT, self._event_to_row(event)).inserted_primary_key
            if (
                written is not None
                and event.dagster_event_type in ASSET_EVENTS
                and event.get_dagster_event().asset_key
            ):
                self._store_asset_event_tags(connection, [event], [written[0]])
                self._store_asset_event(connection, event, written[0])

    def _store_asset_event(self, conn: Connection, event: EventLogEntry, event_id: int) -> None:
        """Note the last event of an asset; see Dagster's, which inserts first and fails where it is known."""
        key = event.get_dagster_event().asset_key
        values = self._get_asset_entry_values(event, event_id, self.has_asset_key_index_cols())
        if key is None or not values:
            return
        update = sa.update(AssetKeyTable).where(AssetKeyTable.c.asset_key == key.to_string())
        if not conn.execute(update, values).rowcount:
            super()._store_asset_event(conn, event, event_id)

    def has_asset_key_index_cols(self) -> bool:
        """Return whether assets have the columns of newer versions; Dagster never drops one."""
        self._has_columns = self._has_columns or super().has_asset_key_index_cols()
        return self._has_columns

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
