"""The column types of the store: names, instants, spans, JSON and codes, the same in every database.

An instant is an INTEGER of microseconds since 1970 in UTC: exact, compared as a number, and
independent of how a database handles zones. A span of time is a number of microseconds too. Nested
values are JSON text. Names are compared by code points everywhere, since the order of rows is part
of the store's contract and a database's own collation would change it.

Each type defines in `stored` and `restored` how one value is stored. SQLAlchemy uses them for the
parameters of a query; whole rows go through a `Codec`, without a call for each value.

A codec turns values of the engine into rows and back, all columns of a table at once.
A row is a tuple of stored values, in the order of `names`. The table defines the mapping: a
column has the name of a field, and its type says how the value is stored.
Exceptions are listed: renamed fields, and columns that are derived for an index. Nothing here uses
a database connection.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec
from sqlalchemy import BigInteger, ColumnElement, Dialect, Integer, Table, Text, TypeDecorator, type_coerce

from tidegate.domain.value import Value

LAST_CODE_POINT = "\U0010ffff"
"""Sorts after everything that can follow a prefix."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

Name = Text().with_variant(Text(collation="C"), "postgresql")
"""Ids, names and keys. SQLite compares by code point by default, PostgreSQL with collation "C"."""

Serial = BigInteger().with_variant(Integer(), "sqlite")
"""A number that the database hands out. SQLite numbers only columns called INTEGER."""


def microseconds(instant: datetime) -> int:
    """Return the number of an instant; a datetime without zone is a bug and is refused."""
    if instant.tzinfo is None:
        raise ValueError(f"{instant!r} has no zone: instants in the store are aware")
    return (instant - EPOCH) // MICROSECOND


def instant(number: int) -> datetime:
    """Return the instant of a number of microseconds, in UTC."""
    return EPOCH + timedelta(0, 0, number)


class Stored(TypeDecorator[Any]):
    """A column whose values are converted. None is SQL's NULL.

    Attributes:
        stored: converts a value to the stored one, which is never None.
        restored: converts back.
    """

    cache_ok = True
    impl = Text
    stored: Callable[[Any], Any]
    restored: Callable[[Any], Any]

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Return the stored form of a value."""
        return None if value is None else self.stored(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Return the value of a stored form."""
        return None if value is None else self.restored(value)


class Instant(Stored):
    """An aware datetime, kept as microseconds since 1970 in UTC."""

    cache_ok = True
    impl = BigInteger
    stored = staticmethod(microseconds)
    restored = staticmethod(instant)


class Span(Stored):
    """A timedelta, kept as microseconds."""

    cache_ok = True
    impl = BigInteger

    @staticmethod
    def stored(value: timedelta) -> int:
        """Return the number of a span."""
        return value // MICROSECOND

    @staticmethod
    def restored(value: int) -> timedelta:
        """Return the span of a number."""
        return timedelta(0, 0, value)


class Json(Stored):
    """A value as JSON text.

    Args:
        kind: type to decode to; any plain JSON value by default.
        kept: size of the cache of decoded values, which are frozen: deployed apps and schedules are
            read at every tick and seldom change.
    """

    cache_ok = True

    def __init__(self, kind: Any = Any, *, kept: int = 0) -> None:
        super().__init__()
        self.kind = kind
        decode = msgspec.json.Decoder(kind).decode
        self.restored = lru_cache(kept)(decode) if kept else decode

    @staticmethod
    def stored(value: Any) -> str:
        """Return the JSON text of a value."""
        return msgspec.json.encode(value).decode()


class Bytes(Stored):
    """Bytes in base 64: rows are sent as JSON (see `bulk`)."""

    cache_ok = True

    @staticmethod
    def stored(value: bytes) -> str:
        """Return the text of bytes."""
        return b64encode(value).decode()

    @staticmethod
    def restored(value: str) -> bytes:
        """Return the bytes of a text."""
        return b64decode(value)


class Coded(Stored):
    """A member of an enum, kept as its text."""

    cache_ok = True

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__()
        self.kind = kind
        self.restored = {member.value: member for member in kind}.__getitem__

    stored = staticmethod(str)


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
        self._derived = [(converter(table.c[name].type), of) for name, of in (derived or {}).items()]

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


def converter(kind: object) -> Convert:
    """Return what makes the stored value of one of a column of some type."""
    return kind.stored if isinstance(kind, Stored) else _same


def _same(value: Any) -> Any:
    return value
