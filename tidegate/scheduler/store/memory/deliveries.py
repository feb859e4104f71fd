"""Deliveries in memory."""

from collections.abc import Collection

from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.store.memory.tables import DeliveryKey, DeliveryMark, Tables


class DeliveryReader:
    """See `EngineReader`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def deliveries(self, jobs: Collection[str]) -> dict[str, tuple[Delivery, ...]]:
        """See `EngineReader.deliveries`."""
        found: dict[str, tuple[Delivery, ...]] = {}
        for job in jobs:
            marks = self._tables.deliveries.get(job, {})
            each = [self._delivery(job, place, mark) for place, mark in marks.items() if mark.reason is None]
            each.sort(key=lambda d: (d.event.arrived, d.event.id, d.leaf, d.schedule))
            found[job] = tuple(each)
        return found

    def newest_deliveries(self, job: str, limit: int) -> tuple[Delivery, ...]:
        """See `EngineReader.newest_deliveries`."""
        found = self.deliveries([job])[job]
        return found[max(0, len(found) - limit) :]

    def count_deliveries(self, job: str) -> int:
        """See `EngineReader.count_deliveries`."""
        return len(self.deliveries([job])[job])

    def deliveries_of_events(self, events: Collection[str]) -> tuple[Delivery, ...]:
        """See `EngineReader.deliveries_of_events`."""
        found = [
            self._delivery(job, place, mark)
            for job, marks in self._tables.deliveries.items()
            for place, mark in marks.items()
            if place[0] in events
        ]
        return tuple(sorted(found, key=lambda d: (d.event.id, d.schedule, d.leaf, d.job or "")))

    def _delivery(self, job: str | None, place: DeliveryKey, mark: DeliveryMark) -> Delivery:
        event, schedule, leaf = place
        return Delivery(
            event=self._tables.events[event],
            schedule=schedule,
            leaf=leaf,
            job=job,
            reason=mark.reason,
            at=mark.at,
        )
