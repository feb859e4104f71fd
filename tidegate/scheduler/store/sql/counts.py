"""Counts for metrics in SQL; see `scheduler.store.parts.counts`."""

from sqlalchemy import func, literal, select, text

from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.parts.counts import Count, Counts
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.statements.queries import Statement
from tidegate.scheduler.store.sql.totals.reader import TotalReader
from tidegate.scheduler.store.sql.totals.tables import EVENTS, JOBS, LAUNCHES, RUNS

_JOBS = tables.jobs.c
SCHEDULES = (
    select(tables.schedules.c.app, tables.schedules.c.status, func.count())
    .group_by(tables.schedules.c.app, tables.schedules.c.status)
    .order_by(tables.schedules.c.app, tables.schedules.c.status)
)
DEAD_LETTERS = (
    select(_JOBS.app, literal(""), func.count())
    .where(_JOBS.state == JobState.FAILED, _JOBS.reason == Reason.F_LAUNCH, _JOBS.maintenance.is_(None))
    .group_by(_JOBS.app)
    .order_by(_JOBS.app)
)
BYTES = {
    "sqlite": text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"),
    "postgresql": text("SELECT pg_database_size(current_database())"),
}


class CountReader(TotalReader):
    """See `CountRows`."""

    def counts(self) -> Counts:
        """See `CountRows.counts`."""
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
