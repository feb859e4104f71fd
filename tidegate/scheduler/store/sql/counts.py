"""Counts for metrics in SQL."""

from collections.abc import Iterator
from typing import Any

import msgspec
from sqlalchemy import Column, Table, func, literal, select, text

from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.answers import Count, Counts, Damage
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Stored, as_held
from tidegate.scheduler.store.sql.event_statements import unindexed
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.statements.queries import UNREADABLE, Statement
from tidegate.scheduler.store.sql.totals import EVENTS, JOBS, LAUNCHES, RUNS, TotalReader

_JOBS = tables.jobs.c
SCHEDULES = (
    select(tables.schedules.c.app, tables.schedules.c.status, func.count())
    .group_by(tables.schedules.c.app, tables.schedules.c.status)
    .order_by(tables.schedules.c.app, tables.schedules.c.status)
)
DEAD_LETTERS = (
    select(_JOBS.app, literal(""), func.count())
    .where(
        unindexed(_JOBS.state) == JobState.FAILED,
        _JOBS.reason == Reason.F_LAUNCH,
        _JOBS.maintenance.is_(None),
    )
    .group_by(_JOBS.app)
    .order_by(_JOBS.app)
)
BYTES = {
    "sqlite": text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"),
    "postgresql": text("SELECT pg_database_size(current_database())"),
}
ROWS_LOOKED_AT = 20_000
"""Of each table."""
SHOWN_DAMAGE = 20
VALUE = tables.cursors.c.value
"""JSON that its readers decode."""


class CountReader(TotalReader):
    def damage(self) -> tuple[Damage, ...]:
        found = [*self._of_database()]
        for table in metadata.sorted_tables:
            found += self._of_table(table)
        return tuple(found[:SHOWN_DAMAGE])

    def _of_table(self, table: Table) -> Iterator[Damage]:
        keys = list(table.primary_key)
        kept = [column for column in table.columns if isinstance(column.type, Stored) or column is VALUE]
        if not kept:
            return
        query = select(*(as_held(column) for column in (*keys, *kept)))
        newest = query.order_by(*(column.desc() for column in keys)).limit(ROWS_LOOKED_AT)
        for row in self._connection.execute(newest):
            for column, value in zip(kept, row[len(keys) :], strict=True):
                try:
                    if value is not None:
                        _restore(column, value)
                except UNREADABLE as error:
                    key = " ".join(str(part) for part in row[: len(keys)])
                    yield Damage(table=table.name, key=key, what=f"its {column.name} cannot be read: {error}")

    def _of_database(self) -> Iterator[Damage]:
        if self._connection.dialect.name == "sqlite":
            for (said,) in self._connection.execute(text(f"PRAGMA quick_check({SHOWN_DAMAGE})")):
                if said != "ok":
                    yield Damage(what=f"quick_check: {said}")

    def counts(self) -> Counts:
        size = self._connection.execute(BYTES[self._connection.dialect.name]).scalar_one()
        return Counts(
            schedules=self._counted(SCHEDULES),
            runs=self._of(RUNS),
            launches=self._of(LAUNCHES),
            events=self._of(EVENTS),
            finished_jobs=self._of(JOBS),
            outcomes=tuple(
                Count(app=app, label=outcome, reason=reason, number=number)
                for (app, outcome, reason), number in sorted(self._outcomes().items())
            ),
            dead_letters=self._counted(DEAD_LETTERS),
            bytes=int(size),
        )

    def _of(self, kind: str) -> tuple[Count, ...]:
        found = (
            Count(app=app, label=label, reason=reason, number=number)
            for app, label, reason, number in self._totals(kind)
        )
        return tuple(sorted(found, key=lambda each: (each.app, each.label, each.reason)))

    def _counted(self, query: Statement) -> tuple[Count, ...]:
        rows = self._connection.execute(query).all()
        return tuple(Count(app=app, label=label, number=number) for app, label, number in rows)


def _restore(column: Column[Any], value: Any) -> None:
    kind: Any = column.type
    if column is VALUE:
        msgspec.json.decode(value)
    else:
        kind.restored(value)
