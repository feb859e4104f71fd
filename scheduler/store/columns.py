"""The column types of the store: names, instants, spans and JSON, the same in every database.

An instant is an INTEGER of microseconds since 1970 in UTC: exact, compared as a number, and
free of what databases think of zones. A span of time is a number of microseconds too. Nested
values are JSON text. Names are compared by their code points everywhere, since the order of
rows is part of the store's contract and a database's own collation would change it.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Dialect, Integer, Text, TypeDecorator

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

Name = Text().with_variant(Text(collation="C"), "postgresql")
"""Ids, names and keys. SQLite compares by code point by itself, PostgreSQL when told "C"."""

Serial = BigInteger().with_variant(Integer(), "sqlite")
"""A number that the database hands out. SQLite numbers only columns called INTEGER."""


class Instant(TypeDecorator[datetime]):
    """An aware datetime, kept as microseconds since 1970 in UTC."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """The number of an instant; a datetime without zone is a bug and is refused."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no zone: instants in the store are aware")
        return (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """The instant of a number, in UTC."""
        return None if value is None else EPOCH + timedelta(microseconds=value)


class Span(TypeDecorator[timedelta]):
    """A timedelta, kept as microseconds."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: timedelta | None, dialect: Dialect) -> int | None:
        """The number of a span."""
        return None if value is None else value // MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> timedelta | None:
        """The span of a number."""
        return None if value is None else timedelta(microseconds=value)


class Json(TypeDecorator[Any]):
    """A value as JSON text. `None` is SQL's NULL.

    Args:
        kind: type to decode to; any plain JSON value by default.
    """

    impl = Text
    cache_ok = True

    def __init__(self, kind: Any = Any) -> None:
        super().__init__()
        self.kind = kind

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """The JSON text of a value."""
        return None if value is None else msgspec.json.encode(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """The value of a JSON text."""
        return None if value is None else msgspec.json.decode(value, type=self.kind)
