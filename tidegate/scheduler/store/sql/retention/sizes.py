"""How large the tables of a store are, and how far back they go."""

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection, func, select, text
from sqlalchemy.exc import OperationalError

from tidegate.scheduler.store.parts.retention import TableSize
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Instant
from tidegate.scheduler.store.sql.maintenance.tables import operation_runs
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.retention.tables import snapshots

OLDEST: dict[str, Column[Any]] = {
    "events": tables.events.c.arrived,
    "jobs": tables.jobs.c.opened_at,
    "runs": tables.runs.c.seen_at,
    "launches": tables.launches.c.at,
    "operation_runs": operation_runs.c.started_at,
    "snapshots": snapshots.c.at,
}
"""Indexed instants: the oldest one is a look-up."""

FIRST_ENTRY = select(tables.journal.c.at).order_by(tables.journal.c.number).limit(1)


def table_sizes(connection: Connection) -> tuple[TableSize, ...]:
    """Return the size of each table, by name."""
    found: list[TableSize] = []
    measured = _bytes(connection)
    for name, table in sorted(metadata.tables.items()):
        rows = connection.execute(select(func.count()).select_from(table)).scalar_one()
        oldest: datetime | None = None
        if name in OLDEST:
            oldest = connection.execute(select(func.min(OLDEST[name], type_=Instant()))).scalar()
        elif name == "journal":
            oldest = connection.execute(FIRST_ENTRY).scalar()
        found.append(TableSize(table=name, rows=rows, bytes=measured.get(name), oldest=oldest))
    return tuple(found)


def _bytes(connection: Connection) -> dict[str, int]:
    """Return the bytes of each table with its indexes; nothing where SQLite was built without `dbstat`."""
    if connection.dialect.name == "postgresql":
        query = text(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace"
        )
        return {name: int(size) for name, size in connection.execute(query).all()}
    query = text(
        "SELECT m.tbl_name, SUM(s.pgsize) FROM dbstat AS s JOIN sqlite_master AS m ON m.name = s.name"
        " WHERE s.aggregate = 1 GROUP BY m.tbl_name"
    )
    try:
        return {name: int(size) for name, size in connection.execute(query).all()}
    except OperationalError:
        return {}
