"""Pages of long lists in SQL."""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Column, bindparam, func, or_, select

from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.answers import JobCount, NewestJob, counts_order
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Instant
from tidegate.scheduler.store.sql.statements.bulk import given, listed, newest_of
from tidegate.scheduler.store.sql.statements.queries import Queries, Statement

ENDED = bindparam("ended", type_=Instant)

_OPENED, _ID = tables.jobs.c.opened_at, tables.jobs.c.id
_ENDED = tables.jobs.c.ended_at

_COUNTS = select(
    tables.jobs.c.app,
    tables.jobs.c.state,
    tables.jobs.c.reason,
    func.count().label("jobs"),
    func.min(_OPENED, type_=Instant()).label("oldest"),
).group_by(tables.jobs.c.app, tables.jobs.c.state, tables.jobs.c.reason)
COUNTS = (_COUNTS, _COUNTS.where(_ENDED >= ENDED))
"""All, and those that have ended since an instant."""

PIPELINES = tuple(each.where(tables.jobs.c.maintenance.is_(None)) for each in COUNTS)
"""The same without operations on tables."""


IN_STATE = bindparam("state", type_=tables.jobs.c.state.type)
STATES = tuple(state for state in JobState if state is not JobState.DISCARDED)


@cache
def _newest(dialect: str) -> Statement:
    """Return the query for the newest job of each schedule in a state."""
    jobs, wanted = tables.jobs.c, given(dialect, "schedules")
    begun = or_(jobs.reason.is_(None), jobs.reason != Reason.W_TIME)
    where = (jobs.schedule == wanted.c.value, jobs.state == IN_STATE, begun)
    return newest_of(dialect, wanted, (jobs.id, jobs.key, jobs.opened_at, jobs.ended_at), where, by=_OPENED)


class PageReader(Queries):
    def job_counts(
        self, states: Collection[JobState], ended_since: datetime | None = None, *, operations: bool = True
    ) -> tuple[JobCount, ...]:
        lists: dict[Column[Any], Any] = {tables.jobs.c.state: states}
        query = (COUNTS if operations else PIPELINES)[ended_since is not None]
        bound = {} if ended_since is None else {"ended": ended_since}
        found = self._all(query, _counted, lists, None, **bound)
        return tuple(sorted(found, key=counts_order))

    def newest_jobs(self, schedules: Collection[str]) -> tuple[NewestJob, ...]:
        given_refs = listed(self._dialect, schedules)
        found: list[NewestJob] = []
        for state in STATES:
            bound = {"schedules": given_refs, "state": state}
            for ref, _, key, opened, ended in self._connection.execute(_newest(self._dialect), bound).all():
                found.append(NewestJob(schedule=ref, state=state, key=key, opened_at=opened, ended_at=ended))
        return tuple(sorted(found, key=lambda each: (each.schedule, each.state)))


def _counted(row: Any) -> JobCount:
    return JobCount(app=row.app, state=row.state, reason=row.reason, jobs=row.jobs, oldest=row.oldest)
