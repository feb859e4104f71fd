"""The writer of retention in SQL: rows go by their keys, and their names stay."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, select, update

from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.retention import LedgerSum, PrunedKind, Snapshot
from tidegate.scheduler.model.set_back import OF_ALERTS, OF_INCIDENTS, OF_JOBS
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.journal import JOURNAL_TABLE
from tidegate.scheduler.store.sql.maintenance import operation_runs
from tidegate.scheduler.store.sql.records.alerts import alerts, incidents
from tidegate.scheduler.store.sql.retention.reader import RetentionReader
from tidegate.scheduler.store.sql.retention.tables import (
    ledger_sums,
    pruned,
    snapshots,
)
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.bulk import among, listed
from tidegate.scheduler.store.sql.totals import TotalWriter

SUM_NAMES = ("schedule", "day", "outcome", "reason", "events")


def put_sums(connection: Connection, sums: Iterable[LedgerSum]) -> None:
    """Add to the daily sums; the totals are not changed."""
    found: Counter[tuple[str, ...]] = Counter()
    for each in sums:
        found[each.schedule, each.day.isoformat(), each.outcome, each.reason] += each.events
    rows = [(*key, events) for key, events in found.items()]
    bulk.insert(connection, ledger_sums, SUM_NAMES, rows, on_conflict="add")


class RetentionWriter(RetentionReader, TotalWriter):
    def drop_jobs(self, ids: Collection[str]) -> None:
        self._take_out(ids)
        jobs = tables.jobs.c
        discarded = select(jobs.id).where(
            jobs.state == JobState.DISCARDED, among(self._dialect, jobs.id, "names")
        )
        names = {"names": listed(self._dialect, ids)}
        self._remember(PrunedKind.DISCARDED_JOB, self._connection.execute(discarded, names).scalars().all())
        columns = (
            tables.claims.c.job,
            tables.edges.c.job,
            tables.edges.c.upstream,
            operation_runs.c.job,
            jobs.id,
        )
        for column in columns:
            self._delete(column, ids)

    def forget_events(self, ids: Collection[str]) -> int:
        self._remember(PrunedKind.EVENT, ids)
        return self.take_back_events(ids)

    def take_back_events(self, ids: Collection[str]) -> int:
        self._uncount_events(ids)
        statement = delete(tables.deliveries).where(among(self._dialect, tables.deliveries.c.event, "names"))
        removed = self._connection.execute(statement, {"names": listed(self._dialect, ids)}).rowcount
        self._delete(tables.events.c.id, ids)
        return removed

    def set_back(self, now: datetime) -> None:
        events, deliveries, runs = tables.events.c, tables.deliveries, tables.runs.c
        ahead = select(events.id).where(events.arrived > now)
        statement = update(deliveries).where(deliveries.c.event.in_(ahead)).values(arrived=now)
        self._connection.execute(statement)
        columns = (
            *(tables.jobs.c[name] for name in OF_JOBS),
            events.unrouted_since,
            events.arrived,
            runs.seen_at,
            runs.started_at,
            runs.ended_at,
            tables.launches.c.at,
            tables.gauges.c.reported_at,
            *(incidents.c[name] for name in OF_INCIDENTS),
            *(alerts.c[name] for name in OF_ALERTS),
        )
        for column in columns:
            statement = update(column.table).where(column > now).values({column: now})
            self._connection.execute(statement)

    def forget_runs(self, ids: Collection[str]) -> None:
        self._remember(PrunedKind.RUN, ids)
        self._uncount_runs(ids)
        self._delete(tables.runs.c.run_id, ids)

    def drop_launches(self, holders: Collection[str]) -> None:
        self._uncount_launches(holders)
        self._delete(tables.launches.c.holder, holders)

    def drop_journal(self, numbers: Collection[int]) -> None:
        bulk.delete(self._connection, JOURNAL_TABLE, ("number",), [(number,) for number in sorted(numbers)])

    def add_sums(self, sums: Iterable[LedgerSum]) -> None:
        found = list(sums)
        for each in found:
            self._count_outcome(each.schedule, each.events, each.outcome, each.reason)
        put_sums(self._connection, found)

    def put_snapshot(self, snapshot: Snapshot) -> None:
        self.drop_snapshots([snapshot.number])
        row = {"number": snapshot.number, "at": snapshot.at, "state": snapshot.state}
        self._connection.execute(snapshots.insert(), [row])

    def drop_snapshots(self, numbers: Sequence[int]) -> None:
        self._connection.execute(delete(snapshots).where(snapshots.c.number.in_(numbers)))

    def _remember(self, kind: PrunedKind, ids: Collection[str]) -> None:
        rows = [(kind, id) for id in sorted(set(ids))]
        bulk.insert(self._connection, pruned, ("kind", "id"), rows, on_conflict="leave")
