"""The query of the ledger: how many events each schedule has, by the state and the reason of their jobs."""

from typing import Any

from sqlalchemy import Select, and_, case, func, select

from tidegate.scheduler.store.sql import tables

LAST_CODE_POINT = "\U0010ffff"
"""Sorts after everything that can follow a prefix."""


def counted_events(app: str | None) -> Select[*tuple[Any, ...]]:
    """Return the query for the number of events of each schedule, by state and reason.

    The inner query has one row for each event and job. `kept` is 1 if the event has not left the job.
    """
    delivery, job = tables.deliveries, tables.jobs
    key = (delivery.c.schedule, delivery.c.job, delivery.c.event)
    kept = func.max(case((delivery.c.reason.is_(None), 1), else_=0)).label("kept")
    each = select(*key, kept, func.min(delivery.c.reason).label("reason")).group_by(*key)
    if app is not None:
        each = each.where(delivery.c.schedule.between(f"{app}/", f"{app}/{LAST_CODE_POINT}"))
    event = each.subquery()
    of_job = and_(job.c.id == event.c.job, event.c.kept == 1)
    reason = case((job.c.id.is_(None), event.c.reason), else_=job.c.reason).label("reason")
    return (
        select(event.c.schedule, job.c.state, reason, func.count().label("events"))
        .join_from(event, job, of_job, isouter=True)
        .group_by(event.c.schedule, job.c.state, reason)
    )
