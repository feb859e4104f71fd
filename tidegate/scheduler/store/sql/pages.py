"""Pages of long lists in SQL."""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Column, Integer, Text, and_, bindparam, func, or_, select

from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.store.answers import JobCount, counts_order
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Instant
from tidegate.scheduler.store.sql.journal import IS_DEPLOYMENT, JOURNAL_TABLE
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Queries, Statement, every
from tidegate.scheduler.store.sql.statements.rows import JOBS, JOURNAL, SCHEDULES
from tidegate.scheduler.store.wanted import JobsWanted, SchedulesWanted

OPENED = bindparam("opened", type_=Instant)
ENDED = bindparam("ended", type_=Instant)
SINCE = bindparam("since", type_=Instant)
BEHIND = bindparam("behind", type_=Text)
BEFORE = bindparam("before", type_=Integer)

_OPENED, _ID, _NUMBER = tables.jobs.c.opened_at, tables.jobs.c.id, JOURNAL_TABLE.c.number
_ENDED = tables.jobs.c.ended_at

FIRST_SCHEDULES = every(SCHEDULES).order_by(tables.schedules.c.ref).limit(LIMIT)
NEXT_SCHEDULES = FIRST_SCHEDULES.where(tables.schedules.c.ref > BEHIND)
SCHEDULE_COUNT = select(func.count()).select_from(tables.schedules)
COUNTS = select(
    tables.jobs.c.app,
    tables.jobs.c.state,
    tables.jobs.c.reason,
    func.count().label("jobs"),
    func.min(_OPENED, type_=Instant()).label("oldest"),
).group_by(tables.jobs.c.app, tables.jobs.c.state, tables.jobs.c.reason)
COUNTS_ENDED = COUNTS.where(_ENDED >= ENDED)
COUNTS_OF_BACKFILLS = (
    select(tables.jobs.c.backfill, tables.jobs.c.state, func.count())
    .where(tables.jobs.c.backfill > 0)
    .where(
        tables.jobs.c.backfill.between(bindparam("first", type_=Integer), bindparam("last", type_=Integer))
    )
    .where(tables.jobs.c.real_at.is_not(None))
    .group_by(tables.jobs.c.backfill, tables.jobs.c.state)
)
FIRST_DEPLOYMENTS = (
    select(*JOURNAL.read, _NUMBER.label("place")).where(IS_DEPLOYMENT).order_by(_NUMBER.desc()).limit(LIMIT)
)
NEWEST_DEPLOYMENT = select(_NUMBER, JOURNAL_TABLE.c.at).where(IS_DEPLOYMENT).order_by(_NUMBER.desc()).limit(1)
NEXT_DEPLOYMENTS = FIRST_DEPLOYMENTS.where(_NUMBER < BEFORE)


@cache
def _jobs(before: bool, since: bool, ended: bool) -> Statement:
    """Return the query for the newest jobs.

    Args:
        before: only those behind a job.
        since: only those that were opened at an instant or later.
        ended: only those that ended at an instant or later.
    """
    query = every(JOBS).limit(LIMIT)
    if before:
        # The first condition alone tells the index where to begin.
        query = query.where(and_(_OPENED <= OPENED, or_(_OPENED < OPENED, _ID < BEHIND)))
    if since:
        query = query.where(_OPENED >= SINCE)
    if ended:
        return query.where(_ENDED >= ENDED).order_by(_OPENED.desc(), _ID.desc())
    return query.order_by(_OPENED.desc(), _ID.desc())


class PageReader(Queries):
    def schedules_page(self, wanted: SchedulesWanted, limit: int) -> tuple[ScheduleState, ...]:
        of = tables.schedules.c
        equals: dict[Column[Any], Any] = {
            of.app: wanted.app,
            of.program: wanted.program,
            of.trigger_kind: wanted.kind,
            of.status: wanted.status,
        }
        if wanted.after is None:
            return tuple(self._all(FIRST_SCHEDULES, SCHEDULES.value, None, equals, limit=limit))
        return tuple(
            self._all(NEXT_SCHEDULES, SCHEDULES.value, None, equals, limit=limit, behind=wanted.after)
        )

    def schedule_count(self, app: str | None = None) -> int:
        (found,) = self._all(SCHEDULE_COUNT, tuple[int], equals={tables.schedules.c.app: app})
        return found[0]

    def newest_jobs(self, wanted: JobsWanted, limit: int) -> tuple[Job, ...]:
        jobs = tables.jobs
        lists: dict[Column[Any], Any] = {jobs.c.app: wanted.apps}
        equals = {
            jobs.c.schedule: wanted.schedule,
            jobs.c.state: wanted.state,
            jobs.c.reason: wanted.reason,
        }
        bound: dict[str, Any] = {"limit": limit}
        if wanted.since is not None:
            bound["since"] = wanted.since
        if wanted.ended_since is not None:
            bound["ended"] = wanted.ended_since
        if wanted.before is not None:
            bound["opened"], bound["behind"] = wanted.before
        query = _jobs("opened" in bound, "since" in bound, "ended" in bound)
        return tuple(self._all(query, JOBS.value, lists, equals, **bound))

    def job_counts(
        self, states: Collection[JobState], ended_since: datetime | None = None
    ) -> tuple[JobCount, ...]:
        lists: dict[Column[Any], Any] = {tables.jobs.c.state: states}
        if ended_since is None:
            found = self._all(COUNTS, _counted, lists)
        else:
            found = self._all(COUNTS_ENDED, _counted, lists, ended=ended_since)
        return tuple(sorted(found, key=counts_order))

    def backfill_counts(self, first: int, last: int) -> dict[int, dict[JobState, int]]:
        found: dict[int, dict[JobState, int]] = {}
        for number, state, jobs in self._all(
            COUNTS_OF_BACKFILLS, tuple[int, JobState, int], first=first, last=last
        ):
            found.setdefault(number, {})[state] = jobs
        return found

    def deployments(self, before: int | None, limit: int) -> tuple[tuple[int, Entry], ...]:
        if before is None:
            return tuple(self._all(FIRST_DEPLOYMENTS, _numbered, limit=limit))
        return tuple(self._all(NEXT_DEPLOYMENTS, _numbered, limit=limit, before=before))

    def newest_deployment(self) -> tuple[int, datetime] | None:
        row = self._connection.execute(NEWEST_DEPLOYMENT).one_or_none()
        return None if row is None else (row.number, row.at)


def _counted(row: Any) -> JobCount:
    return JobCount(app=row.app, state=row.state, reason=row.reason, jobs=row.jobs, oldest=row.oldest)


def _numbered(row: Any) -> tuple[int, Entry]:
    return row[-1], JOURNAL.value(row)
