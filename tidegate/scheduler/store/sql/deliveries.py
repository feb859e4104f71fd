"""Deliveries in SQL."""

from collections.abc import Collection

from sqlalchemy import func, select

from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Queries
from tidegate.scheduler.store.sql.statements.rows import DELIVERY_READ, EVENTS, delivery_of

DELIVERIES = select(*EVENTS.read, *DELIVERY_READ).join_from(
    tables.deliveries, tables.events, tables.events.c.id == tables.deliveries.c.event
)
COLLECTED = DELIVERIES.where(tables.deliveries.c.reason.is_(None))
NEWEST_COLLECTED = COLLECTED.order_by(
    tables.events.c.arrived.desc(),
    tables.events.c.id.desc(),
    tables.deliveries.c.leaf.desc(),
    tables.deliveries.c.schedule.desc(),
).limit(LIMIT)
COUNT_COLLECTED = (
    select(func.count()).select_from(tables.deliveries).where(tables.deliveries.c.reason.is_(None))
)


class DeliveryReader(Queries):
    def deliveries(self, jobs: Collection[str]) -> dict[str, tuple[Delivery, ...]]:
        found: dict[str, list[Delivery]] = {job: [] for job in jobs}
        # `why` asks for a job that does not exist yet and has no id; NO_JOB's deliveries are not its own.
        named = [job for job in found if job != tables.NO_JOB]
        for delivery in self._all(COLLECTED, delivery_of, {tables.deliveries.c.job: named}):
            found[delivery.job or tables.NO_JOB].append(delivery)
        for each in found.values():
            each.sort(key=lambda d: (d.event.arrived, d.event.id, d.leaf, d.schedule))
        return {job: tuple(each) for job, each in found.items()}

    def newest_deliveries(self, job: str, limit: int) -> tuple[Delivery, ...]:
        found = self._all(NEWEST_COLLECTED, delivery_of, None, {tables.deliveries.c.job: job}, limit=limit)
        return tuple(found[::-1])

    def count_deliveries(self, job: str) -> int:
        (found,) = self._all(COUNT_COLLECTED, tuple[int], None, {tables.deliveries.c.job: job})
        return found[0]

    def deliveries_of_events(self, events: Collection[str]) -> tuple[Delivery, ...]:
        found = self._all(DELIVERIES, delivery_of, {tables.deliveries.c.event: events})
        return tuple(sorted(found, key=lambda d: (d.event.id, d.schedule, d.leaf, d.job or "")))
