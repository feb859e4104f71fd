"""Queries of the store in SQL: a statement, narrowed to lists and equal values, and its rows as values.

Each statement is built once and cached, for any parameters and any length of lists (see `bulk`): building one
takes longer than running it.
"""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import Column, Connection, Integer, Select, bindparam, select

from tidegate.scheduler.store.sql.statements.bulk import among, listed
from tidegate.scheduler.store.sql.statements.codec import Codec, Row

STATEMENTS_KEPT = 500
"""Statements that a process caches: more than there are kinds of queries."""

LIMIT = bindparam("limit", type_=Integer)
"""How many rows a query returns at most, as a parameter of it."""

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
        return [of(row) for row in self._connection.execute(query, parameters).all()]
