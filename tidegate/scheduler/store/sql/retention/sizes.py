"""How large the tables of a store are, and how far back they go."""

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection, Label, Select, func, select, text
from sqlalchemy.exc import OperationalError

from tidegate.scheduler.store.answers import TableSize
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Instant
from tidegate.scheduler.store.sql.journal import JOURNAL_TABLE
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

FIRST_ENTRY = select(JOURNAL_TABLE.c.at).order_by(JOURNAL_TABLE.c.number).limit(1)

ROWS, FIRST = "rows ", "oldest "
"""They begin the names of a table's two columns in `COUNTS`."""


def _counts() -> Select[*tuple[Any, ...]]:
    columns: list[Label[Any]] = []
    for name, table in metadata.tables.items():
        columns.append(select(func.count()).select_from(table).scalar_subquery().label(ROWS + name))
        if name in OLDEST:
            oldest = select(func.min(OLDEST[name], type_=Instant()))
            columns.append(oldest.scalar_subquery().label(FIRST + name))
    return select(*columns, FIRST_ENTRY.scalar_subquery().label(FIRST + JOURNAL_TABLE.name))


def table_sizes(connection: Connection) -> tuple[TableSize, ...]:
    """Return the size of each table, by name."""
    found: list[TableSize] = []
    measured = _bytes(connection)
    # One statement for all tables: most of them are small, and to ask takes longer than to count.
    counted = connection.execute(_counts()).mappings().one()
    for name in sorted(metadata.tables):
        oldest: datetime | None = counted.get(FIRST + name)
        found.append(
            TableSize(table=name, rows=counted[ROWS + name], bytes=measured.get(name), oldest=oldest)
        )
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
