"""A reader of Dagster's event log by row id: every kind of event and every asset in one query.

Dagster's public API reads one asset or one kind at a time and hides the other ids; missing ids
are visible only in the sequence of all ids. So this module, and no other, reads the table
through the storage's own connection and table definition, for SQLite (the shard that mirrors
asset and run-status events) and PostgreSQL alike. It never writes.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from dagster import DagsterEventType, DagsterInstance, EventLogEntry, deserialize_value

from tidegate.dagster_defs.ingest.position import Hole, Position, Row, fingerprint
from tidegate.dagster_defs.internals.sql_storages import (
    SqlEventLogStorage,
    SqlEventLogStorageTable,
    SqlRunStorage,
    events_of,
    runs_of,
)

PAGE_ROWS = 1000

WANTED = frozenset(
    event.value
    for event in (
        DagsterEventType.ASSET_MATERIALIZATION,
        DagsterEventType.ASSET_CHECK_EVALUATION,
        DagsterEventType.RUN_ENQUEUED,
        DagsterEventType.RUN_STARTING,
        DagsterEventType.RUN_START,
        DagsterEventType.RUN_SUCCESS,
        DagsterEventType.RUN_FAILURE,
        DagsterEventType.RUN_CANCELED,
    )
)
"""Kinds of events whose body is read. For all others only the id is used."""

_TABLE = SqlEventLogStorageTable.c
_COLUMNS = (
    _TABLE.id,
    _TABLE.dagster_event_type,
    _TABLE.run_id,
    _TABLE.timestamp,
    sa.case((_TABLE.dagster_event_type.in_(sorted(WANTED)), _TABLE.event), else_=None).label("body"),
)


class EventLog:
    """The event log of a Dagster instance."""

    def __init__(self, instance: DagsterInstance) -> None:
        """Raises: TypeError for an instance whose event log is not in an SQL database."""
        storage = events_of(instance)
        if not isinstance(storage, SqlEventLogStorage):
            raise TypeError(
                f"the event log is a {type(storage).__name__}; tidegate needs SQLite or PostgreSQL storage"
            )
        self._storage = storage
        self.epoch = storage_id(instance)

    def after(self, id_: int, limit: int = PAGE_ROWS) -> tuple[Row, ...]:
        """Return the next rows, in order of id."""
        return self._rows(sa.select(*_COLUMNS).where(_TABLE.id > id_).order_by(_TABLE.id).limit(limit))

    def in_holes(self, holes: Sequence[Hole]) -> tuple[Row, ...]:
        """Return the rows that have appeared in holes, in order of id."""
        if not holes:
            return ()
        ranges = sa.or_(*(_TABLE.id.between(hole.first, hole.last) for hole in holes))
        return self._rows(sa.select(*_COLUMNS).where(ranges).order_by(_TABLE.id))

    def row(self, id_: int) -> Row | None:
        """Return the row with this id, if it exists."""
        return next(iter(self._rows(sa.select(*_COLUMNS).where(_TABLE.id == id_))), None)

    def before(self, instant: datetime) -> Position:
        """Return the position of the last row that is older than an instant."""
        naive = instant.astimezone(UTC).replace(tzinfo=None)
        query = sa.select(*_COLUMNS).where(_TABLE.timestamp < naive).order_by(_TABLE.id.desc()).limit(1)
        last = next(iter(self._rows(query)), None)
        return Position() if last is None else Position(id=last.id, mark=fingerprint(last), at=last.at)

    def _rows(self, query: sa.Select[*tuple[Any, ...]]) -> tuple[Row, ...]:
        with self._storage.index_connection() as connection:
            found = connection.execute(query).fetchall()
        return tuple(
            Row(
                id=row.id,
                kind=row.dagster_event_type or "",
                run_id=row.run_id or "",
                body=row.body,
                at=row.timestamp.replace(tzinfo=UTC),
            )
            for row in found
        )


def storage_id(instance: DagsterInstance) -> str:
    """Return the id of an instance's storage: each database or DAGSTER_HOME has its own.

    Raises:
        TypeError: the runs are not in an SQL database.
    """
    storage = runs_of(instance)
    if not isinstance(storage, SqlRunStorage):
        raise TypeError(
            f"the runs are in a {type(storage).__name__}; tidegate needs SQLite or PostgreSQL storage"
        )
    return storage.get_run_storage_id()


def entry_of(row: Row) -> EventLogEntry | None:
    """Return the event in a row; None for a kind whose body is not read."""
    if row.body is None:
        return None
    return deserialize_value(row.body, EventLogEntry)


def instant_of(entry: EventLogEntry, now: datetime) -> datetime:
    """Return when an event happened, by its writer's clock, but never later than now."""
    return min(datetime.fromtimestamp(0, UTC) + timedelta(seconds=entry.timestamp), now)
