"""The query of the ledger: how many events each schedule has, by the state and the reason of their jobs."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select

from tidegate.scheduler.store.sql import tables


def counted(
    where: Sequence[ColumnElement[bool]], besides: Sequence[ColumnElement[Any]] = ()
) -> Select[*tuple[Any, ...]]:
    """Return the query for the number of events of each schedule, by state, reason and further columns.

    The inner query has one row for each event and job. `kept` is 1 if the event has not left the job.
    Deliveries of pruned jobs do not count: the sums have them (`retention`).

    Args:
        where: conditions on the deliveries.
        besides: columns of the job.
    """
    delivery, job = tables.deliveries, tables.jobs
    key = (delivery.c.schedule, delivery.c.job, delivery.c.event)
    kept = func.max(case((delivery.c.reason.is_(None), 1), else_=0)).label("kept")
    each = select(*key, kept, func.min(delivery.c.reason).label("reason")).where(*where).group_by(*key)
    event = each.subquery()
    in_job = event.c.kept == 1
    state = case((in_job, job.c.state)).label("state")
    reason = case((and_(in_job, job.c.id.is_not(None)), job.c.reason), else_=event.c.reason).label("reason")
    return (
        select(event.c.schedule, state, reason, *besides, func.count().label("events"))
        .join_from(event, job, job.c.id == event.c.job, isouter=True)
        .where(or_(event.c.job == tables.NO_JOB, job.c.id.is_not(None)))
        .group_by(event.c.schedule, state, reason, *besides)
    )
