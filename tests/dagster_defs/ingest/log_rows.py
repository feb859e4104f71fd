"""Rows as they appear in an event log behind a reader's back: late, out of order, reused, wiped."""

from collections.abc import Iterable

import sqlalchemy as sa
from dagster import DagsterInstance

from tidegate.dagster_defs.ingest.event_log import EventLog
from tidegate.dagster_defs.internals.sql_storages import SqlEventLogStorage, SqlEventLogStorageTable

TABLE = SqlEventLogStorageTable


def storage_of(instance: DagsterInstance) -> SqlEventLogStorage:
    """The instance's event log as SQL."""
    storage = instance.event_log_storage
    assert isinstance(storage, SqlEventLogStorage)
    return storage


def hide(instance: DagsterInstance, ids: Iterable[int]) -> list[dict[str, object]]:
    """Take rows out, as if their transactions were not committed yet; returns them for `show`."""
    wanted = TABLE.c.id.in_(list(ids))
    with storage_of(instance).index_connection() as connection:
        rows = [dict(row._mapping) for row in connection.execute(sa.select(TABLE).where(wanted))]
        connection.execute(sa.delete(TABLE).where(wanted))
    return rows


def show(instance: DagsterInstance, rows: list[dict[str, object]]) -> None:
    """Put rows back under their ids: their transactions have committed."""
    with storage_of(instance).index_connection() as connection:
        connection.execute(sa.insert(TABLE), rows)


def ids_of(instance: DagsterInstance) -> list[int]:
    """The ids of all rows, in order."""
    log, found = EventLog(instance), []
    while rows := log.after(found[-1] if found else 0):
        found += [row.id for row in rows]
    return found
