"""The column types of the store: names, instants, spans, JSON and codes, the same in every database.

An instant is an INTEGER of microseconds since 1970 in UTC: exact, compared as a number, and
independent of how a database handles zones. A span of time is a number of microseconds too. Nested
values are JSON text. Names are compared by code points everywhere, since the order of rows is part
of the store's contract and a database's own collation would change it.

Each type defines in `stored` and `restored` how one value is stored. SQLAlchemy uses them for the
parameters of a query; whole rows go through `codec`, without a call for each value.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import BigInteger, Dialect, Integer, Text, TypeDecorator

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
