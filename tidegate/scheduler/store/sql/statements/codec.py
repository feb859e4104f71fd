"""Codecs: engine values to rows and back, all columns of a table at once.

A row here is a tuple of stored values, in the order of `columns`. The table defines the mapping: a
column has the name of a field, and its type says how the value is stored (see `columns`).
Exceptions are listed: renamed fields, and columns that are derived for an index. Nothing here uses
a database connection.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from sqlalchemy import ColumnElement, Table, type_coerce

from tidegate.domain.value import Value
from tidegate.scheduler.store.sql.columns import Stored

V = TypeVar("V", bound=Value)

Row = Sequence[Any]
Held = tuple[Any, ...]
Convert = Callable[[Any], Any]


class Codec(Generic[V]):
    """How values of one kind are kept in one table.

    Args:
        renamed: fields whose column has another name.
        derived: columns without a field, computed from the value; they are written and never read.

    Attributes:
        names: of the columns, fields first, then the derived ones.
        read: the columns of the fields, as a SELECT takes them to get what the database holds.
    """

    def __init__(
        self,
        table: Table,
        kind: type[V],
        *,
        renamed: Mapping[str, str] | None = None,
        derived: Mapping[str, Callable[[V], Any]] | None = None,
    ) -> None:
        self.table = table
        self._kind = kind
        self._fields = kind.__struct_fields__
        columns = [table.c[(renamed or {}).get(field, field)] for field in self._fields]
        self.names = (*(column.name for column in columns), *(derived or {}))
        self.read: list[ColumnElement[Any]] = [as_held(column) for column in columns]
        kinds = [column.type for column in columns]
        self._stored = [(n, kind.stored) for n, kind in enumerate(kinds) if isinstance(kind, Stored)]
        self._restored = [(n, kind.restored) for n, kind in enumerate(kinds) if isinstance(kind, Stored)]
        self._derived = [(_converter(table.c[name].type), of) for name, of in (derived or {}).items()]

    def row(self, value: V) -> Held:
        """The row of a value, in the order of `names`."""
        row: list[Any] = list(msgspec.structs.astuple(value))
        for place, stored in self._stored:
            if row[place] is not None:
                row[place] = stored(row[place])
        for stored, of in self._derived:
            found = of(value)
            row.append(None if found is None else stored(found))
        return tuple(row)

    def value(self, row: Row) -> V:
        """The value of a row of `read`; further columns are ignored."""
        held = list(row)
        for place, restored in self._restored:
            if held[place] is not None:
                held[place] = restored(held[place])
        return self._kind(**dict(zip(self._fields, held, strict=False)))


def as_held(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the column of a SELECT that returns the stored value, without conversion."""
    kind = column.type
    return type_coerce(column, kind.impl_instance).label(column.key) if isinstance(kind, Stored) else column


def _converter(kind: object) -> Convert:
    return kind.stored if isinstance(kind, Stored) else _same


def _same(value: Any) -> Any:
    return value
