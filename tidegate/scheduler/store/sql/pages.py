"""Pages of long lists in SQL."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Text, bindparam, func, select

from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.answers import JobCount, counts_order
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Instant
from tidegate.scheduler.store.sql.statements.queries import Queries

ENDED = bindparam("ended", type_=Instant)
BEHIND = bindparam("behind", type_=Text)

_OPENED, _ID = tables.jobs.c.opened_at, tables.jobs.c.id
_ENDED = tables.jobs.c.ended_at

COUNTS = select(
    tables.jobs.c.app,
    tables.jobs.c.state,
    tables.jobs.c.reason,
    func.count().label("jobs"),
    func.min(_OPENED, type_=Instant()).label("oldest"),
).group_by(tables.jobs.c.app, tables.jobs.c.state, tables.jobs.c.reason)
COUNTS_ENDED = COUNTS.where(_ENDED >= ENDED)


class PageReader(Queries):
    def job_counts(
        self, states: Collection[JobState], ended_since: datetime | None = None
    ) -> tuple[JobCount, ...]:
        lists: dict[Column[Any], Any] = {tables.jobs.c.state: states}
        if ended_since is None:
            found = self._all(COUNTS, _counted, lists)
        else:
            found = self._all(COUNTS_ENDED, _counted, lists, ended=ended_since)
        return tuple(sorted(found, key=counts_order))


def _counted(row: Any) -> JobCount:
    return JobCount(app=row.app, state=row.state, reason=row.reason, jobs=row.jobs, oldest=row.oldest)
