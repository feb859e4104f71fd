"""Records of every kind in SQL: what is read by its key alone.

Records are sorted here and not by the database, which would otherwise read the index of their order instead
of the one that finds them.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import bindparam, select

from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Key, Kind, whole
from tidegate.scheduler.store.sql.columns import Held, Instant, converter
from tidegate.scheduler.store.sql.records.kinds import OVER, codec_of
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Changes, Queries, Statement, every

V = TypeVar("V", bound=Value)


@cache
def _every(kind: Kind[Any]) -> Statement:
    return every(codec_of(kind))


@cache
def _due(kind: Kind[Any], *, bounded: bool) -> Statement:
    """Return the query for records that are due, earliest first.

    Args:
        bounded: only those that are due by the parameter `until`.
    """
    columns = codec_of(kind).table.c
    due = columns[kind.due]
    which = due <= bindparam("until") if bounded else due.is_not(None)
    return _every(kind).where(which).order_by(due, *(columns[name] for name in kind.sorted_by)).limit(LIMIT)


class RecordReader(Queries):
    """Reads records."""

    def records(self, kind: Kind[V], /, **among: Collection[str] | None) -> tuple[V, ...]:
        codec = codec_of(kind)
        lists = {codec.table.c[name]: values for name, values in kind.narrowed_by(among).items()}
        return tuple(sorted(self._all(_every(kind), codec.value, lists), key=kind.place_of))

    def due_records(self, kind: Kind[V], until: datetime | None, limit: int, /, **same: str) -> tuple[V, ...]:
        codec = codec_of(kind)
        bound: dict[str, Any] = {"limit": limit} if until is None else {"limit": limit, "until": until}
        equals = {codec.table.c[name]: value for name, value in same.items()}
        query = _due(kind, bounded=until is not None)
        return tuple(self._all(query, codec.value, equals=equals, **bound))


class RecordWriter(RecordReader, Changes):
    """Changes records."""

    def put_records(self, kind: Kind[V], values: Iterable[V]) -> None:
        self._put(codec_of(kind), values)

    def drop_records(self, kind: Kind[Any], keys: Iterable[Key]) -> None:
        table = codec_of(kind).table
        to_stored = [converter(table.c[name].type) for name in kind.key]
        by_length: dict[int, list[Held]] = {}
        for key in map(whole, keys):
            held = tuple(stored(part) for stored, part in zip(to_stored, key, strict=False))
            by_length.setdefault(len(key), []).append(held)
        for length, rows in by_length.items():
            bulk.delete(self._connection, table, kind.key[:length], rows)

    def drop_old(self, kind: Kind[Any], before: datetime, limit: int) -> int:
        (at, over), table = OVER[kind], codec_of(kind).table
        key = [table.c[name] for name in kind.key]
        old = (
            select(*key).where(at < bindparam("before", type_=Instant), over).order_by(at, *key).limit(LIMIT)
        )
        rows = self._connection.execute(old, {"before": before, "limit": limit}).all()
        bulk.delete(self._connection, table, kind.key, [tuple(row) for row in rows])
        return len(rows)
