"""Queries by filters that are given or not: a statement is built once for each set of given filters."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, TypeVar

from sqlalchemy import Column, ColumnElement, TextClause

from tidegate.scheduler.store.sql.columns import Row
from tidegate.scheduler.store.sql.statements.queries import LIMIT, STATEMENTS_KEPT, Queries, Statement

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, eq=False)
class Filters(Generic[T]):
    """What the filters of a query demand, by name.

    Attributes:
        query: for all rows.
        value: of a row.
        lists: the column that has one of the values of a filter.
        equals: the column that has the value of a filter.
        bounds: another condition on a column, with a parameter of the filter's name; where the value is an
            instant and an id, that of the id ends in `_id`.
        limits: the order in which the first rows are wanted; the value is their number.
    """

    query: Statement
    value: Callable[[Row], T]
    lists: Mapping[str, Column[Any]]
    equals: Mapping[str, Column[Any]] = field(default_factory=dict[str, Column[Any]])
    bounds: Mapping[str, ColumnElement[bool] | TextClause] = field(
        default_factory=dict[str, ColumnElement[bool] | TextClause]
    )
    limits: Mapping[str, Sequence[ColumnElement[Any]]]


class FilteredQueries(Queries):
    """Runs queries by filters."""

    def _wanted(self, filters: Filters[T], wanted: Mapping[str, Any], alone: Collection[str] = ()) -> list[T]:
        """Return the values of the rows that match all given filters.

        Args:
            alone: the lists of which a single value is compared, since an index has its rows in order.
        """
        given = {name: value for name, value in wanted.items() if value is not None and value is not False}
        lists = {column: given.get(name) for name, column in filters.lists.items()}
        equals = {column: given.get(name) for name, column in filters.equals.items()}
        for column in (filters.lists[name] for name in alone):
            values = lists[column]
            if values is not None and len(values) == 1:
                (equals[column],) = values
                del lists[column]
        bound: dict[str, Any] = {}
        for name, value in given.items():
            if name in filters.limits:
                bound["limit"] = value
            elif name in filters.bounds and isinstance(value, tuple):
                bound[name], bound[f"{name}_id"] = value
            elif name in filters.bounds:
                bound[name] = value
        return self._all(_bounded(filters, frozenset(given)), filters.value, lists, equals, **bound)


@lru_cache(STATEMENTS_KEPT)
def _bounded(filters: Filters[Any], given: frozenset[str]) -> Statement:
    """Return the query with its bounds and its order.

    Raises:
        TypeError: a filter is unknown; it must not select all rows.
    """
    unknown = given.difference(filters.lists, filters.equals, filters.bounds, filters.limits)
    if unknown:
        raise TypeError(f"the filter {min(unknown)} is unknown")
    query = filters.query.where(*(bound for name, bound in filters.bounds.items() if name in given))
    for name, order in filters.limits.items():
        if name in given:
            query = query.order_by(*order).limit(LIMIT)
    return query
