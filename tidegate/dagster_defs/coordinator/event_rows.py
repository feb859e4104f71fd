"""The rows of many new events of Dagster's log, written together: one transaction instead of two for each.

The rows are those that Dagster writes itself, in the same order, and each asset has the last of its events.
It writes into our storage in SQLite (`dagster_defs.sqlite`) and into PostgreSQL; any other one gets each
event by itself.
"""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any, cast

import sqlalchemy as sa
from dagster import AssetKey, DagsterEventType, DagsterInstance, EventLogEntry

from tidegate.dagster_defs.internals.new_runs import ASSET_KEY_INDEX_COLS, AssetKeyTable
from tidegate.dagster_defs.internals.sql_storages import (
    SqlEventLogStorage,
    SqlEventLogStorageTable,
    events_of,
)
from tidegate.dagster_defs.sqlite.event_log import KeptEventLog

ASSET_PLANNED = DagsterEventType.ASSET_MATERIALIZATION_PLANNED
MATERIALISED = DagsterEventType.ASSET_MATERIALIZATION
CHECK_PLANNED = DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED

_INSERT = sa.insert(SqlEventLogStorageTable)


class EventRows:
    """The tables of the events of an instance."""

    def __init__(self, instance: DagsterInstance) -> None:
        """Args:
        instance: one with `writes_events_together`.
        """
        # How a storage makes the values of a row is not public.
        self._events: Any = events_of(instance)

    def row(self, entry: EventLogEntry) -> Mapping[str, Any]:
        """Return the row of an event as Dagster makes it."""
        return self._events._event_to_row(entry)

    def add(self, entries: Iterable[EventLogEntry]) -> None:
        """Add events in this order; those of checks have rows of their own, which Dagster writes."""
        for kind, together in groupby(entries, lambda entry: entry.dagster_event_type):
            if kind is CHECK_PLANNED:
                for entry in together:
                    self._events.store_event(entry)
                continue
            of_kind = list(together)
            is_noted = kind in (ASSET_PLANNED, MATERIALISED)
            last = {
                key: (position, entry)
                for position, entry in enumerate(of_kind)
                if is_noted and (key := entry.get_dagster_event().asset_key)
            }
            self.add_rows([self.row(each) for each in of_kind], last)

    def add_rows(
        self, rows: Sequence[Mapping[str, Any]], last: Mapping[AssetKey, tuple[int, EventLogEntry]]
    ) -> None:
        """Add rows of events of one kind.

        Args:
            last: the position and the event of the last row of each asset, which notes it.
        """
        # By their texts, so that two writers never wait for each other.
        of_asset = {key.to_string(): last[key] for key in last}
        numbered = sorted(
            position
            for position, entry in of_asset.values()
            # What is planned leaves no trace of its id at its asset.
            if entry.dagster_event_type is not ASSET_PLANNED
        )
        with self._events.index_connection() as connection, one_transaction(connection):
            ids = self._insert(connection, rows, numbered)
            noted = {key: (entry, ids.get(position, 0)) for key, (position, entry) in of_asset.items()}
            known = self._update_assets(connection, noted)
        for key in sorted(noted.keys() - known):
            self._events.store_asset_event(*noted[key])

    def _insert(
        self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]], numbered: Sequence[int]
    ) -> dict[int, int]:
        """Insert events in their order, and return the ids of those at some positions."""
        ids, begin = dict[int, int](), 0
        for position in numbered:
            insert_rows(connection, SqlEventLogStorageTable, rows[begin:position])
            written = connection.execute(_INSERT, rows[position]).inserted_primary_key
            ids[position] = cast(sa.Row[Any], written)[0]
            begin = position + 1
        insert_rows(connection, SqlEventLogStorageTable, rows[begin:])
        return ids

    def _update_assets(
        self, connection: sa.Connection, last: Mapping[str, tuple[EventLogEntry, int]]
    ) -> set[str]:
        """Note the last events of the assets that are known, and return these."""
        if not last:
            return set()
        column, has_times = AssetKeyTable.c.asset_key, self._events.has_secondary_index(ASSET_KEY_INDEX_COLS)
        known = set(connection.execute(sa.select(column).where(column.in_(sorted(last)))).scalars())
        if known:
            rows = [
                {"key": key, **self._events._get_asset_entry_values(*last[key], has_times)}
                for key in sorted(known)
            ]
            names = rows[0].keys() - {"key"}
            update = sa.update(AssetKeyTable).where(column == sa.bindparam("key"))
            connection.execute(update.values({name: sa.bindparam(name) for name in names}), rows)
        return known


def writes_events_together(instance: DagsterInstance) -> bool:
    """Return whether the events of an instance can be written together."""
    return takes_rows_together(events_of(instance), KeptEventLog, SqlEventLogStorage, "index_connection")


def takes_rows_together(storage: object, ours: type, in_sql: type, connect: str) -> bool:
    """Return whether a storage is one of ours, or of Dagster in PostgreSQL.

    Args:
        connect: the name of the method that gives a connection.
    """
    if isinstance(storage, ours):
        return True
    if not isinstance(storage, in_sql):
        return False
    with getattr(storage, connect)() as connection:
        return connection.dialect.name == "postgresql"


@contextmanager
def one_transaction(connection: sa.Connection) -> Generator[None]:
    """Commit at the end what is written inside: on PostgreSQL, Dagster commits each statement."""
    if connection.in_transaction():
        yield
        return
    with connection.execution_options(isolation_level="READ COMMITTED").begin():
        yield


def insert_rows(connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows by one statement; none for no rows."""
    if rows:
        connection.execute(sa.insert(table), rows)
