"""Queues of blocked jobs in SQL.

A row of `queues` says that a queue needs a resource; it is made when a job enters the queue and stays until
the queue is looked at and found empty. The jobs themselves are found by an index of `jobs` in launch order,
and so is the outbox, in the order of its offers.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    Column,
    Delete,
    Index,
    Table,
    Update,
    bindparam,
    delete,
    exists,
    or_,
    select,
    update,
)

from tidegate.scheduler.model.job import WAITING, Job
from tidegate.scheduler.model.queue import needs_of, queue_of
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Instant, Name
from tidegate.scheduler.store.sql.metadata import metadata, partial_index
from tidegate.scheduler.store.sql.statements import bulk
from tidegate.scheduler.store.sql.statements.bulk import among, listed
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Changes, Queries, every
from tidegate.scheduler.store.sql.statements.rows import JOBS

QUEUES = Table(
    "queues",
    metadata,
    Column("resource", Name, primary_key=True),
    Column("queue", Name, primary_key=True),
    # When it is looked at, if it was woken.
    Column("woken_at", Instant),
)
partial_index("ix_queues_woken", QUEUES.c.woken_at, QUEUES.c.queue, where=QUEUES.c.woken_at.is_not(None))
Index("ix_queues_queue", QUEUES.c.queue)

_JOBS = tables.jobs.c
# A wake passes over those in queues.
partial_index("ix_jobs_blocked_on", _JOBS.blocked_on, _JOBS.queue, where=_JOBS.blocked_on.is_not(None))
partial_index("ix_jobs_queue", _JOBS.queue, _JOBS.launch_rank, where=_JOBS.queue.is_not(None))
WOKEN = (
    select(QUEUES.c.queue, QUEUES.c.woken_at)
    .where(QUEUES.c.woken_at <= bindparam("until", type_=Instant()))
    .order_by(QUEUES.c.woken_at, QUEUES.c.queue)
)
FIRST_WOKEN = WOKEN.limit(LIMIT)
QUEUED = (
    every(JOBS)
    .where(_JOBS.queue == bindparam("queue"))
    .where(_JOBS.launch_rank > bindparam("after"))
    .order_by(_JOBS.launch_rank)
    .limit(LIMIT)
)
OUTBOX = every(JOBS).where(_JOBS.queue == tables.OUTBOX).order_by(_JOBS.launch_rank)
TO_OFFER = OUTBOX.where(
    or_(_JOBS.next_check_at.is_(None), _JOBS.next_check_at <= bindparam("now", type_=Instant()))
)
OFFERS = {
    (due, limited): query.limit(LIMIT) if limited else query
    for due, query in ((False, OUTBOX), (True, TO_OFFER))
    for limited in (False, True)
}
"""The outbox, by whether only what is due is asked for, and only the first ones."""


@cache
def _waking(dialect: str) -> tuple[Update, Update]:
    """Return the statements that wake queues, and blocked jobs that are in none."""
    at = bindparam("at", type_=Instant())
    queues = (
        update(QUEUES)
        .where(among(dialect, QUEUES.c.resource, "blocking"))
        .where(or_(QUEUES.c.woken_at.is_(None), QUEUES.c.woken_at > at))
        .values(woken_at=at)
    )
    blocked = among(dialect, _JOBS.blocked_on, "blocking")
    jobs = (
        update(tables.jobs)
        .where(blocked, _JOBS.queue.is_(None), or_(_JOBS.state.in_(sorted(WAITING)), _JOBS.gave_back))
        .where(or_(_JOBS.next_check_at.is_(None), _JOBS.next_check_at > at))
        .values(next_check_at=at, due_at=at)
    )
    return queues, jobs


@cache
def _looked_at(dialect: str) -> tuple[Delete, Update]:
    """Return the statements that forget empty queues, and note that the others were looked at."""
    these = among(dialect, QUEUES.c.queue, "names")
    empty = ~exists(select(_JOBS.id).where(_JOBS.queue == QUEUES.c.queue))
    return delete(QUEUES).where(these, empty), update(QUEUES).where(these).values(woken_at=None)


class QueueReader(Queries):
    def woken(self, until: datetime, limit: int | None = None) -> tuple[tuple[str, datetime], ...]:
        query = WOKEN if limit is None else FIRST_WOKEN
        bound: dict[str, Any] = {} if limit is None else {"limit": limit}
        found: dict[str, datetime] = {}
        for queue, at in self._all(query, tuple[str, datetime], until=until, **bound):
            found.setdefault(queue, at)
        return tuple(found.items())

    def queued_jobs(self, queue: str, after: str, limit: int) -> tuple[Job, ...]:
        return tuple(self._all(QUEUED, JOBS.value, queue=queue, after=after, limit=limit))

    def jobs_to_offer(
        self, apps: Collection[str], now: datetime | None = None, limit: int | None = None
    ) -> tuple[Job, ...]:
        given: dict[str, Any] = {"now": now, "limit": limit}
        query = OFFERS[now is not None, limit is not None]
        bound = {name: value for name, value in given.items() if value is not None}
        return tuple(self._all(query, JOBS.value, {_JOBS.app: apps}, **bound))


class QueueWriter(QueueReader, Changes):
    def wake(self, resources: Collection[str], at: datetime) -> None:
        if not resources:
            return
        for statement in _waking(self._dialect):
            self._connection.execute(statement, {"blocking": listed(self._dialect, resources), "at": at})

    def mark_looked_at(self, queues: Collection[str]) -> None:
        if not queues:
            return
        for statement in _looked_at(self._dialect):
            self._connection.execute(statement, {"names": listed(self._dialect, queues)})

    def _enter_queues(self, jobs: Sequence[Job]) -> None:
        """Record the queues of jobs that are put."""
        entered = {queue for queue in map(queue_of, jobs) if queue is not None}
        rows = [(resource, queue) for queue in sorted(entered) for resource in needs_of(queue)]
        bulk.insert(self._connection, QUEUES, ("resource", "queue"), rows, on_conflict="leave")
