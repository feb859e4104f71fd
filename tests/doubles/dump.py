"""The common form of all that a store holds, read from its tables, so that two stores can be compared.

Rows become plain JSON values. Every table is sorted but the journal, whose order is part of
what it says. Numbers that a database assigns by itself, such as those of the journal, are
not part of it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, select

from tests.doubles.faulty_store import FaultyStore
from tidegate.scheduler.model.retention import Snapshot
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.memory.tables import Tables
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.connection.engine import for_reading
from tidegate.scheduler.store.sql.maintenance.rows import OPERATION_RUNS, RECORDS, TABLES
from tidegate.scheduler.store.sql.reader import SqlReader
from tidegate.scheduler.store.sql.records.alerts import ALERTS, INCIDENTS
from tidegate.scheduler.store.sql.records.expected import DATA, PERIODS, TOTALS
from tidegate.scheduler.store.sql.records.overrides import OVERRIDES
from tidegate.scheduler.store.sql.records.partitions_reports import REPORTS
from tidegate.scheduler.store.sql.records.specifications import SPECIFICATIONS
from tidegate.scheduler.store.sql.records.watched import FOLDERS, PARTITIONS
from tidegate.scheduler.store.sql.retention import tables as retention_tables
from tidegate.scheduler.store.sql.statements.codec import Codec
from tidegate.scheduler.store.sql.statements.rows import (
    APPS,
    DELIVERY_NAMES,
    EVENTS,
    GAUGES,
    JOBS,
    JOURNAL,
    RUNS,
    SCHEDULES,
    SUBSCRIPTIONS,
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
        return _of_sql(connection)


def _of_memory(held: Tables) -> Mapping[str, Any]:
    return _plain(
        apps=held.apps.values(),
        schedules=held.schedules.values(),
        subscriptions=[s for each in held.subscriptions.values() for s in each],
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
        gauges=held.gauges.values(),
        runs=held.runs.values(),
        claims=[[job, attempt, run, at] for (job, attempt), (run, at) in held.claims.items()],
        cursors=[[name, msgspec.json.decode(value)] for name, value in held.cursors.items()],
        maintained=held.maintained.values(),
        records=held.records.values(),
        operation_runs=held.operation_runs.values(),
        pruned=[list(each) for each in held.pruned],
        sums=[[*key, events] for key, events in held.sums.items()],
        snapshots=held.snapshots.values(),
        specifications=[[each.ref, each.content] for each in held.specifications.values()],
        tokens=held.tokens.values(),
        partitions_reports=held.partitions_reports.values(),
        watched_folders=held.watched_folders.values(),
        watched_partitions=held.watched_partitions.values(),
        expected_data=held.expected_data.values(),
        overrides=held.overrides.values(),
        expected_periods=held.expected_periods.values(),
        late_totals=held.late_totals.values(),
        incidents=held.incidents.values(),
        alerts=held.alerts.values(),
        journal=held.journal,
    )


def _of_sql(connection: Connection) -> Mapping[str, Any]:
    def values(codec: Codec[Any]) -> list[Any]:
        return [codec.value(row) for row in connection.execute(select(*codec.read))]

    def rows(table: Table, *names: str) -> list[list[Any]]:
        return [list(row) for row in connection.execute(select(*(table.c[name] for name in names)))]

    unrouted = select(tables.events.c.id).where(tables.events.c.unrouted_since.is_not(None))
    journal = select(*JOURNAL.read).order_by(tables.journal.c.number)
    reader = SqlReader(connection)
    return _plain(
        apps=values(APPS),
        schedules=values(SCHEDULES),
        subscriptions=values(SUBSCRIPTIONS),
        events=values(EVENTS),
        unrouted=connection.execute(unrouted).scalars(),
        deliveries=[
            [event, schedule, leaf, job or None, reason, at]
            for job, event, schedule, leaf, reason, at in rows(tables.deliveries, *DELIVERY_NAMES)
        ],
        jobs=values(JOBS),
        edges=rows(tables.edges, "upstream", "job"),
        slots=rows(tables.slots, "resource", "holder"),
        launches=rows(tables.launches, "program", "holder", "at"),
        gauges=values(GAUGES),
        runs=values(RUNS),
        claims=rows(tables.claims, "job", "attempt", "run_id", "at"),
        cursors=[[name, reader.cursor(name)] for (name,) in rows(tables.cursors, "name")],
        maintained=values(TABLES),
        records=values(RECORDS),
        operation_runs=values(OPERATION_RUNS),
        pruned=rows(retention_tables.pruned, "kind", "id"),
        sums=rows(retention_tables.ledger_sums, "schedule", "day", "outcome", "reason", "events"),
        snapshots=[
            Snapshot(number=number, at=at, state=state)
            for number, at, state in rows(retention_tables.snapshots, "number", "at", "state")
        ],
        specifications=[[each.ref, each.content] for each in values(SPECIFICATIONS)],
        tokens=reader.tokens(),
        partitions_reports=values(REPORTS),
        watched_folders=values(FOLDERS),
        watched_partitions=values(PARTITIONS),
        expected_data=values(DATA),
        overrides=values(OVERRIDES),
        expected_periods=values(PERIODS),
        late_totals=values(TOTALS),
        incidents=values(INCIDENTS),
        alerts=values(ALERTS),
        journal=[JOURNAL.value(row) for row in connection.execute(journal)],
    )


def _plain(*, journal: Iterable[Any], **others: Iterable[Any]) -> Mapping[str, Any]:
    """The rows as JSON values.

    Args:
        journal: its entries, in the order in which they were written.
        others: the rows of each other table, in any order.
    """
    dumped: dict[str, Any] = {
        name: sorted((msgspec.to_builtins(row) for row in rows), key=msgspec.json.encode)
        for name, rows in others.items()
    }
    return {**dumped, "journal": [msgspec.to_builtins(entry) for entry in journal]}
