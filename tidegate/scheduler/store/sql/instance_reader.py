"""The reader of instances of cycle tasks in SQL; each query uses an index of `jobs` or `edges`."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import bindparam, select

from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.statements.queries import Queries, every
from tidegate.scheduler.store.sql.statements.rows import JOBS

_JOBS = tables.jobs.c
_ORDER = (_JOBS.scheduled_at, _JOBS.id)
IN_RANGE = (
    every(JOBS)
    .where(_JOBS.backfill == bindparam("backfill"))
    .where(_JOBS.scheduled_at.between(bindparam("first"), bindparam("last")))
    .order_by(*_ORDER)
)
BEFORE = (
    every(JOBS)
    .where(_JOBS.schedule == bindparam("task"))
    .where(_JOBS.backfill == bindparam("backfill"))
    .where(_JOBS.real_at < bindparam("before"))
    .order_by(_JOBS.real_at.desc(), _JOBS.id.desc())
    .limit(1)
)
OF_BACKFILL = (
    every(JOBS).where(_JOBS.backfill == bindparam("backfill")).where(_JOBS.backfill > 0).order_by(*_ORDER)
)
CONSUMERS = select(tables.edges.c.job).distinct()


class InstanceReader(Queries):
    def instances(
        self, tasks: Collection[str], first: datetime, last: datetime, *, backfill: int = 0
    ) -> tuple[Job, ...]:
        found = self._all(
            IN_RANGE, JOBS.value, {_JOBS.schedule: tasks}, first=first, last=last, backfill=backfill
        )
        return tuple(found)

    def instance_before(self, task: str, scheduled: datetime, *, backfill: int = 0) -> Job | None:
        found = self._all(BEFORE, JOBS.value, task=task, before=scheduled, backfill=backfill)
        return next(iter(found), None)

    def backfill(self, number: int) -> tuple[Job, ...]:
        return tuple(self._all(OF_BACKFILL, JOBS.value, backfill=number))

    def consumers(self, jobs: Collection[str]) -> tuple[str, ...]:
        found = self._all(CONSUMERS, tuple[str], {tables.edges.c.upstream: jobs})
        return tuple(sorted(job for (job,) in found))
