"""Records of every kind in SQL: what is read by its key alone.

A new kind has its table beside these, and its line in `CODECS`. Records are sorted here and not by the
database, which would otherwise read the index of their order instead of the one that finds them.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, cast

from sqlalchemy import Column, ColumnElement, bindparam, select, true

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.kind import Key, Kind, whole
from tidegate.scheduler.model.launch_order import TURNS
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS
from tidegate.scheduler.model.records.alert import ALERTS, INCIDENTS
from tidegate.scheduler.model.records.expected import EXPECTED_DATA, EXPECTED_PERIODS, LATE_TOTALS
from tidegate.scheduler.model.records.judged_run import CHECK_RESULTS
from tidegate.scheduler.model.records.last_launch import LAST_LAUNCHES
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.records.partitions_report import PARTITIONS_REPORTS
from tidegate.scheduler.model.records.session import SESSIONS
from tidegate.scheduler.model.records.specification import SPECIFICATIONS
from tidegate.scheduler.model.records.token import TOKENS
from tidegate.scheduler.model.records.watched import WATCHED_FOLDERS, WATCHED_PARTITIONS
from tidegate.scheduler.model.records.withheld import WITHHELD_EVENTS
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES
from tidegate.scheduler.model.run import GAUGES
from tidegate.scheduler.store.sql import commit_tables, maintenance
from tidegate.scheduler.store.sql.columns import Codec, Held, Instant, converter
from tidegate.scheduler.store.sql.records import alerts, expected, tables
from tidegate.scheduler.store.sql.statements import bulk, rows
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Changes, Queries, Statement, every

V = TypeVar("V", bound=Value)

CODECS: dict[Kind[Any], Codec[Any]] = {
    ALERTS: alerts.ALERTS,
    APPS: rows.APPS,
    CHECK_RESULTS: commit_tables.CHECK_RESULTS,
    EXPECTED_DATA: expected.DATA,
    EXPECTED_PERIODS: expected.PERIODS,
    GAUGES: rows.GAUGES,
    INCIDENTS: alerts.INCIDENTS,
    LAST_LAUNCHES: tables.LAST_LAUNCHES,
    LATE_TOTALS: expected.TOTALS,
    MAINTAINED_TABLES: maintenance.TABLES,
    MAINTENANCE_RECORDS: maintenance.RECORDS,
    OVERRIDES: tables.OVERRIDES,
    PARTITIONS_REPORTS: tables.REPORTS,
    SESSIONS: tables.SESSIONS,
    SPECIFICATIONS: tables.SPECIFICATIONS,
    SUBSCRIPTIONS: rows.SUBSCRIPTIONS,
    TOKENS: tables.TOKENS,
    TURNS: tables.TURNS,
    WATCHED_FOLDERS: tables.WATCHED_FOLDERS,
    WATCHED_PARTITIONS: tables.WATCHED_PARTITIONS,
    WITHHELD_EVENTS: tables.WITHHELD_EVENTS,
    WITHHELD_PUBLISHES: commit_tables.WITHHELD_PUBLISHES,
}


_ALERTS, _PERIODS, _REPORTS, _WITHHELD = (
    alerts.alerts.c,
    expected.expected_periods.c,
    tables.partitions_reports.c,
    tables.withheld_events.c,
)
OVER: dict[Kind[Any], tuple[Column[Any], ColumnElement[bool]]] = {
    ALERTS: (_ALERTS.ended_at, _ALERTS.next_at.is_(None)),
    EXPECTED_PERIODS: (_PERIODS.was_late, _PERIODS.was_late.is_not(None)),
    PARTITIONS_REPORTS: (_REPORTS.at, _REPORTS.owed_since.is_(None)),
    SESSIONS: (tables.sessions.c.expires_at, true()),
    WITHHELD_EVENTS: (_WITHHELD.released_at, _WITHHELD.released_at.is_not(None)),
}
"""Since when a record is over, and which ones are."""


def codec_of(kind: Kind[V]) -> Codec[V]:
    """Return how the records of a kind are kept."""
    return cast("Codec[V]", CODECS[kind])


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
            row = tuple(stored(part) for stored, part in zip(to_stored, key, strict=False))
            by_length.setdefault(len(key), []).append(row)
        for length, held in by_length.items():
            bulk.delete(self._connection, table, kind.key[:length], held)

    def drop_old(self, kind: Kind[Any], before: datetime, limit: int) -> int:
        (at, over), table = OVER[kind], codec_of(kind).table
        key = [table.c[name] for name in kind.key]
        old = (
            select(*key).where(at < bindparam("before", type_=Instant), over).order_by(at, *key).limit(LIMIT)
        )
        found = self._connection.execute(old, {"before": before, "limit": limit}).all()
        bulk.delete(self._connection, table, kind.key, [tuple(row) for row in found])
        return len(found)
