"""Pages of long lists in SQL."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Integer, Text, bindparam, func, select

from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.store.answers import JobCount, counts_order
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Instant
from tidegate.scheduler.store.sql.journal import IS_DEPLOYMENT, JOURNAL_TABLE
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Queries, every
from tidegate.scheduler.store.sql.statements.rows import JOURNAL, SCHEDULES
from tidegate.scheduler.store.wanted import SchedulesWanted

ENDED = bindparam("ended", type_=Instant)
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
FIRST_DEPLOYMENTS = (
    select(*JOURNAL.read, _NUMBER.label("place")).where(IS_DEPLOYMENT).order_by(_NUMBER.desc()).limit(LIMIT)
)
NEWEST_DEPLOYMENT = select(_NUMBER, JOURNAL_TABLE.c.at).where(IS_DEPLOYMENT).order_by(_NUMBER.desc()).limit(1)
NEXT_DEPLOYMENTS = FIRST_DEPLOYMENTS.where(_NUMBER < BEFORE)


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

    def job_counts(
        self, states: Collection[JobState], ended_since: datetime | None = None
    ) -> tuple[JobCount, ...]:
        lists: dict[Column[Any], Any] = {tables.jobs.c.state: states}
        if ended_since is None:
            found = self._all(COUNTS, _counted, lists)
        else:
            found = self._all(COUNTS_ENDED, _counted, lists, ended=ended_since)
        return tuple(sorted(found, key=counts_order))

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
