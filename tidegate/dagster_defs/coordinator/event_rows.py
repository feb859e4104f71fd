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
from dagster import DagsterEventType, DagsterInstance, EventLogEntry

from tidegate.dagster_defs.internals.new_runs import ASSET_KEY_INDEX_COLS, AssetKeyTable
from tidegate.dagster_defs.internals.sql_storages import SqlEventLogStorage, SqlEventLogStorageTable
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
        self._events: Any = _events_of(instance)

    def add(self, entries: Iterable[EventLogEntry]) -> list[str]:
        """Add events in this order; those of checks have rows of their own, which Dagster writes.

        Returns:
            The other events as their rows have them.
        """
        bodies: list[str] = []
        for kind, together in groupby(entries, lambda entry: entry.dagster_event_type):
            if kind is CHECK_PLANNED:
                for entry in together:
                    self._events.store_event(entry)
            else:
                bodies += self._add_together(list(together))
        return bodies

    def _add_together(self, entries: Sequence[EventLogEntry]) -> list[str]:
        """Add events of one kind, and return them as their rows have them."""
        is_noted = entries[0].dagster_event_type in (ASSET_PLANNED, MATERIALISED)
        # An asset has its last event. By its key, so that two writers never wait for each other.
        last = {
            key.to_string(): position
            for position, entry in enumerate(entries)
            if is_noted and (key := entry.get_dagster_event().asset_key)
        }
        # What is planned leaves no trace of its id at its asset.
        numbered = [] if entries[0].dagster_event_type is ASSET_PLANNED else sorted(last.values())
        rows = [self._events._event_to_row(each) for each in entries]
        with self._events.index_connection() as connection, one_transaction(connection):
            ids = self._insert(connection, rows, numbered)
            noted = {key: (entries[position], ids.get(position, 0)) for key, position in last.items()}
            known = self._update_assets(connection, noted)
        for key in sorted(noted.keys() - known):
            self._events.store_asset_event(*noted[key])
        return [row["event"] for row in rows]

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
    return takes_rows_together(_events_of(instance), KeptEventLog, SqlEventLogStorage, "index_connection")


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


def _events_of(instance: DagsterInstance) -> object:
    # An instance may wrap its storages.
    return getattr(instance.event_log_storage, "event_log_storage", instance.event_log_storage)
