"""Queries and changes of the store in SQL: statements narrowed to lists and equal values, rows as values.

Each statement is built once and cached, for any parameters and any length of lists (see `bulk`): building one
takes longer than running it.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Column, Connection, Delete, Integer, Select, bindparam, delete, select

from tidegate.domain.value import Value
from tidegate.scheduler.store.sql.columns import Codec, Row
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.bulk import OnConflict, among, listed

UNREADABLE = (msgspec.MsgspecError, ValueError, TypeError)
"""What a damaged row raises when it becomes a value."""

STATEMENTS_KEPT = 500
"""Statements that a process caches: more than there are kinds of queries."""

ROWS_AT_ONCE = 200
"""So many rows are fetched before they become values: their memory is used again for the next ones."""

LIMIT = bindparam("limit", type_=Integer)
"""How many rows a query returns at most, as a parameter of it."""

_named = set[tuple[str, str]]()
log = logging.getLogger(__name__)

Statement = Select[*tuple[Any, ...]]
T = TypeVar("T")


def every(codec: Codec[Any]) -> Statement:
    """Return the query for all rows of a codec."""
    return select(*codec.read)


@lru_cache(STATEMENTS_KEPT)
def _narrowed(
    query: Statement, dialect: str, lists: tuple[Column[Any], ...], equals: tuple[Column[Any], ...]
) -> Statement:
    """Narrow a query to rows whose columns are in the given lists or equal to the given parameters."""
    for column in lists:
        query = query.where(among(dialect, column, f"list_{column.name}"))
    for column in equals:
        query = query.where(column == bindparam(f"same_{column.name}"))
    return query


@lru_cache(STATEMENTS_KEPT)
def _without(column: Column[Any], dialect: str) -> Delete:
    """Return the statement that deletes the rows with one of some values in a column."""
    return delete(column.table).where(among(dialect, column, "names"))


V = TypeVar("V", bound=Value)


class Queries:
    """Runs queries on a connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._dialect = connection.dialect.name

    def _all(
        self,
        query: Statement,
        of: Callable[[Row], T],
        lists: Mapping[Column[Any], Collection[str] | None] | None = None,
        equals: Mapping[Column[Any], Any] | None = None,
        **parameters: Any,
    ) -> list[T]:
        """Return the values of all rows that match the lists and equal values; None does not narrow."""
        in_lists = {column: values for column, values in (lists or {}).items() if values is not None}
        same = {column: value for column, value in (equals or {}).items() if value is not None}
        query = _narrowed(query, self._dialect, tuple(in_lists), tuple(same))
        for column, values in in_lists.items():
            parameters[f"list_{column.name}"] = listed(self._dialect, values)
        for column, value in same.items():
            parameters[f"same_{column.name}"] = value
        found: list[T] = []
        for rows in self._connection.execute(query, parameters).partitions(ROWS_AT_ONCE):
            try:
                found += [of(row) for row in rows]
            except UNREADABLE:
                # One damaged row must not hide, or stop, all others.
                found += [value for value, _ in readable(query, of, rows)]
        return found


class Changes(Queries):
    """Changes tables on a connection."""

    def _put(self, codec: Codec[V], values: Iterable[V], on_conflict: OnConflict = "replace") -> None:
        """Write values."""
        rows = [codec.row(value) for value in values]
        bulk.insert(self._connection, codec.table, codec.names, rows, on_conflict=on_conflict)

    def _delete(self, column: Column[Any], values: Collection[str]) -> None:
        """Delete the rows that have one of these values in a column."""
        if values:
            names = {"names": listed(self._dialect, values)}
            self._connection.execute(_without(column, self._dialect), names)


def readable(query: Statement, of: Callable[[Row], T], rows: Iterable[Row]) -> Iterator[tuple[T, Row]]:
    """Yield the values of the rows that can be read, and log the others, each once for this process."""
    for row in rows:
        try:
            yield of(row), row
        except UNREADABLE as error:
            table, key = place_of(query, row)
            if (table, key) not in _named:
                _named.add((table, key))
                log.warning(
                    "the row %s of the table %s of the store is damaged, and is left out: %s",
                    key,
                    table,
                    error,
                )


def place_of(query: Statement, row: Row) -> tuple[str, str]:
    """Return the table of a row, and its key."""
    first: Any = query.get_final_froms()[0]
    # Of a join, the values are those of the table on its right.
    table = getattr(first, "right", first)
    named: Mapping[str, Any] = getattr(row, "_mapping", {})
    key = [str(named[column.name]) for column in getattr(table, "primary_key", ()) if column.name in named]
    return str(getattr(table, "name", table)), " ".join(key) or str(row[0] if len(row) else "")
