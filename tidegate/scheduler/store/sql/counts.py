"""Counts for metrics in SQL; see `scheduler.store.parts.counts`.

Runs, launches and events are counted along an index that has all that is asked.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from sqlalchemy import Select, func, select, text

from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.parts.counts import Count, Counts, of_event_key, summed
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.statements.queries import Queries

_JOBS, _RUNS = tables.jobs.c, tables.runs.c
SCHEDULES = select(tables.schedules.c.app, tables.schedules.c.status, func.count()).group_by(
    tables.schedules.c.app, tables.schedules.c.status
)
RUNS = select(_RUNS.program, _RUNS.status, func.count()).group_by(_RUNS.program, _RUNS.status)
LAUNCHES = select(tables.launches.c.program, func.count()).group_by(tables.launches.c.program)
EVENTS = select(tables.events.c.key, func.count()).group_by(tables.events.c.key)
DEAD_LETTERS = (
    select(_JOBS.app, func.count())
    .where(_JOBS.state == JobState.FAILED, _JOBS.reason == Reason.F_LAUNCH, _JOBS.maintenance.is_(None))
    .group_by(_JOBS.app)
)
BYTES = {
    "sqlite": text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"),
    "postgresql": text("SELECT pg_database_size(current_database())"),
}


class CountReader(Queries):
    """See `CountRows`."""

    def counts(self) -> Counts:
        """See `CountRows.counts`."""
        size = self._connection.execute(BYTES[self._connection.dialect.name]).scalar_one()
        return Counts(
            schedules=self._counted(SCHEDULES, _of_app),
            runs=self._counted(RUNS, _of_program),
            launches=self._counted(LAUNCHES, _of_program),
            events=self._counted(EVENTS, of_event_key),
            dead_letters=self._counted(DEAD_LETTERS, _of_app),
            bytes=int(size),
        )

    def _counted(
        self, query: Select[*tuple[Any, ...]], place: Callable[..., tuple[str, str]]
    ) -> tuple[Count, ...]:
        found: Counter[tuple[str, str]] = Counter()
        for row in self._connection.execute(query):
            *named, number = row
            found[place(*named)] += number
        return summed(found)


def _of_app(app: str, label: str = "") -> tuple[str, str]:
    return app, label


def _of_program(program: str, label: str = "") -> tuple[str, str]:
    return app_of(program), label
