"""The common form of all that a store holds, read from its tables, so that two stores can be compared.

Rows become plain JSON values. Every table is sorted but the journal, whose order is part of
what it says. Numbers that a database assigns by itself, such as those of the journal, are
not part of it.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from sqlalchemy import Connection, Engine, Table, select

from tests.doubles.faulty_store import FaultyStore
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.records.specification import SPECIFICATIONS
from tidegate.scheduler.model.retention import Snapshot
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.memory.tables import Tables
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Codec
from tidegate.scheduler.store.sql.connection.engine import for_reading
from tidegate.scheduler.store.sql.journal import JOURNAL, JOURNAL_TABLE
from tidegate.scheduler.store.sql.known import KnowingReader
from tidegate.scheduler.store.sql.maintenance import OPERATION_RUNS
from tidegate.scheduler.store.sql.records.by_key import CODECS
from tidegate.scheduler.store.sql.retention import tables as retention_tables
from tidegate.scheduler.store.sql.statements.rows import (
    DELIVERY_NAMES,
    EVENTS,
    JOBS,
    RUNS,
    SCHEDULES,
)
from tidegate.scheduler.store.sql.store import SqlStore


def dump(store: Store) -> Mapping[str, Any]:
    """Every table as sorted plain JSON values; equal for equal histories in every kind of store."""
    if isinstance(store, FaultyStore):
        return dump(store.store)
    if isinstance(store, MemoryStore):
        return _of_memory(store.committed)
    assert isinstance(store, SqlStore), store
    with for_reading(store.engine).connect() as connection, connection.begin():
        return _of_sql(store.engine, connection)


def _of_memory(held: Tables) -> Mapping[str, Any]:
    return _plain(
        schedules=held.schedules.values(),
        events=held.events.values(),
        unrouted=held.unrouted,
        deliveries=[
            [event, schedule, leaf, job, mark.reason, mark.at]
            for job, marks in held.deliveries.items()
            for (event, schedule, leaf), mark in marks.items()
        ],
        jobs=held.jobs.values(),
        edges=[[upstream, job] for job, each in held.edges.items() for upstream in each],
        slots=[[resource, holder] for resource, holders in held.slots.items() for holder in holders],
        launches=[[program, holder, at] for holder, (program, at) in held.launches.items()],
        runs=held.runs.values(),
        claims=[[job, attempt, run, at] for (job, attempt), (run, at) in held.claims.items()],
        cursors=[[name, msgspec.json.decode(value)] for name, value in held.cursors.items()],
        operation_runs=held.operation_runs.values(),
        pruned=[list(each) for each in getattr(held, "pruned", ())],
        sums=[[*key, events] for key, events in getattr(held, "sums", {}).items()],
        snapshots=getattr(held, "snapshots", {}).values(),
        journal=held.journal,
        **{kind.name: map(MADE.get(kind, _same), held.records_of(kind).values()) for kind in CODECS},
    )


def _same(value: Any) -> Any:
    return value


MADE: Mapping[Kind[Any], Callable[[Any], Any]] = {SPECIFICATIONS: lambda each: [each.ref, each.content]}
"""What is dumped of the records of a kind instead of them: numbers of deployments may differ."""

Decoded = tuple[Table, Callable[[Connection], Iterable[Any]]]
"""A table, and what reads and decodes its rows."""

DUMPED: WeakKeyDictionary[Engine, dict[str, tuple[list[Any], list[Any]]]] = WeakKeyDictionary()
"""By store and name: the rows as the database gave them the last time, and what was made of them."""


def _of_sql(engine: Engine, connection: Connection) -> Mapping[str, Any]:
    """Decode the tables whose rows have changed since the last time; from dump to dump most have not."""
    dumped = DUMPED.setdefault(engine, {})
    asked = connection.connection.cursor()
    for name, (table, decoded) in _parts().items():
        asked.execute(f'SELECT * FROM "{table.name}"')
        rows = asked.fetchall()
        if name not in dumped or dumped[name][0] != rows:
            dumped[name] = rows, list(_plain_rows(name, decoded(connection)))
    asked.close()
    return {name: plain for name, (_, plain) in dumped.items()}


@cache
def _parts() -> Mapping[str, Decoded]:
    """What a dump is made of."""
    unrouted = select(tables.events.c.id).where(tables.events.c.unrouted_since.is_not(None))
    journal = select(*JOURNAL.read).order_by(JOURNAL_TABLE.c.number)
    return {
        "schedules": _values(SCHEDULES),
        "events": _values(EVENTS),
        "unrouted": (tables.events, lambda connection: connection.execute(unrouted).scalars()),
        "deliveries": _rows(tables.deliveries, *DELIVERY_NAMES, made=_delivery),
        "jobs": _values(JOBS),
        "edges": _rows(tables.edges, "upstream", "job"),
        "slots": _rows(tables.slots, "resource", "holder"),
        "launches": _rows(tables.launches, "program", "holder", "at"),
        "runs": _values(RUNS),
        "claims": _rows(tables.claims, "job", "attempt", "run_id", "at"),
        "cursors": (tables.cursors, _cursors),
        "operation_runs": _values(OPERATION_RUNS),
        "pruned": _rows(retention_tables.pruned, "kind", "id"),
        "sums": _rows(retention_tables.ledger_sums, "schedule", "day", "outcome", "reason", "events"),
        "snapshots": _rows(retention_tables.snapshots, "number", "at", "state", made=_snapshot),
        **{kind.name: _values(codec, MADE.get(kind, _same)) for kind, codec in CODECS.items()},
        "journal": (JOURNAL_TABLE, lambda connection: map(JOURNAL.value, connection.execute(journal))),
    }


def _values(codec: Codec[Any], made: Callable[[Any], Any] = _same) -> Decoded:
    """The values of a codec, or what is made of each."""
    wanted = select(*codec.read)
    return codec.table, lambda connection: (made(codec.value(row)) for row in connection.execute(wanted))


def _rows(table: Table, *names: str, made: Callable[..., Any] = lambda *row: list(row)) -> Decoded:
    """Some columns of a table, or what is made of each row."""
    wanted = select(*(table.c[name] for name in names))
    return table, lambda connection: (made(*row) for row in connection.execute(wanted))


def _delivery(job: str, event: str, schedule: str, leaf: str, reason: Any, at: Any) -> list[Any]:
    return [event, schedule, leaf, job or None, reason, at]


def _snapshot(number: int, at: Any, state: Any) -> Snapshot:
    return Snapshot(number=number, at=at, state=state)


def _cursors(connection: Connection) -> Iterable[Any]:
    reader = KnowingReader(connection)
    names = connection.execute(select(tables.cursors.c.name)).scalars().all()
    return [[name, reader.cursor(name)] for name in names]


def _plain(**held: Iterable[Any]) -> Mapping[str, Any]:
    return {name: list(_plain_rows(name, rows)) for name, rows in held.items()}


def _plain_rows(name: str, rows: Iterable[Any]) -> Iterable[Any]:
    """The rows as JSON values: of the journal in the order in which they were written, of others sorted."""
    plain = (msgspec.to_builtins(row) for row in rows)
    return plain if name == "journal" else sorted(plain, key=msgspec.json.encode)
