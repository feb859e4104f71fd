"""Pages of long lists in SQL."""

from collections.abc import Collection
from datetime import datetime
from functools import cache
from typing import Any, Unpack

from sqlalchemy import Column, ColumnElement, Integer, Text, and_, bindparam, func, or_, select

from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.answers import JobCount, NewestJob, counts_order
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Instant, as_held
from tidegate.scheduler.store.sql.statements.bulk import given, listed, newest_of
from tidegate.scheduler.store.sql.statements.filters import FilteredQueries, Filters
from tidegate.scheduler.store.sql.statements.queries import Statement, every
from tidegate.scheduler.store.sql.statements.rows import JOBS
from tidegate.scheduler.store.wanted import InstancesWanted

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


JOBS_BY_ID = every(JOBS)
_JOBS = tables.jobs.c


def _beyond(name: str) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """Return the parameters of a place behind which, or before which, a page of instances begins."""
    return bindparam(name, type_=Instant), bindparam(f"{name}_id", type_=Text)


_AFTER, _AFTER_ID = _beyond("after")
_BEFORE, _BEFORE_ID = _beyond("before")
INSTANCES_OF_STATE = Filters(
    query=select(as_held(_JOBS.scheduled_at), _JOBS.id).where(_JOBS.scheduled_at.is_not(None)),
    value=tuple[int, str],
    lists={"schedules": _JOBS.schedule},
    equals={"state": _JOBS.state},
    bounds={
        "backfill": and_(_JOBS.backfill > 0, _JOBS.backfill == bindparam("backfill", type_=Integer)),
        "of_none": _JOBS.backfill == 0,
        "first": _JOBS.scheduled_at >= bindparam("first", type_=Instant),
        "last": _JOBS.scheduled_at <= bindparam("last", type_=Instant),
        "empty": _JOBS.real_at.is_(None),
        "real": _JOBS.real_at.is_not(None),
        # The first conditions alone tell the index where to begin.
        "after": and_(_JOBS.scheduled_at >= _AFTER, or_(_JOBS.scheduled_at > _AFTER, _JOBS.id > _AFTER_ID)),
        "before": and_(
            _JOBS.scheduled_at <= _BEFORE, or_(_JOBS.scheduled_at < _BEFORE, _JOBS.id < _BEFORE_ID)
        ),
    },
    limits={"oldest": (_JOBS.scheduled_at, _JOBS.id), "newest": (_JOBS.scheduled_at.desc(), _JOBS.id.desc())},
)


class PageReader(FilteredQueries):
    def instances_page(
        self, states: Collection[JobState], **wanted: Unpack[InstancesWanted]
    ) -> tuple[Job, ...]:
        places = [
            place
            for state in states
            for place in self._wanted(INSTANCES_OF_STATE, {**wanted, "state": state}, ("schedules",))
        ]
        newest = wanted.get("newest")
        ids = [id for _, id in sorted(places, reverse=newest is not None)[: newest or wanted.get("oldest")]]
        found = self._all(JOBS_BY_ID, JOBS.value, {_ID: ids}) if ids else []
        return tuple(sorted(found, key=lambda job: (job.of_task.scheduled, job.id)))

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
