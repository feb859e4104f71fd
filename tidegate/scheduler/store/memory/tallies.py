"""The kept counts of waiting jobs in memory."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.records.tally import KeptTally, TalliedKeys
from tidegate.scheduler.store.memory.tables import Tables


class TallyReader:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def tallies(self, jobs: Collection[str]) -> dict[str, KeptTally]:
        return {job: self._tables.tallies[job] for job in sorted(jobs) if job in self._tables.tallies}

    def tallied_keys(self, job: str, keys: Collection[str]) -> dict[tuple[str, str], int]:
        known = self._tables.tallied_keys.get(job, {})
        return {place: amount for place, amount in known.items() if place[1] in keys}

    def counted_events(self, job: str, leaf: str, after: datetime, limit: int) -> tuple[Event, ...]:
        found = sorted((at, id) for where, at, id in self._counted(job) if where == leaf and at > after)
        return tuple([self._tables.events[id] for _, id in found if id in self._tables.events][:limit])

    def newest_counted(self, job: str, leaf: str, until: datetime) -> datetime | None:
        found = (at for where, at, _ in self._counted(job) if where == leaf and at <= until)
        return max(found, default=None)

    def _counted(self, job: str) -> frozenset[tuple[str, datetime, str]]:
        return self._tables.counted_events.get(job, frozenset())


class TallyWriter(TallyReader):
    def put_tallies(
        self,
        tallies: Sequence[KeptTally],
        keys: Mapping[str, TalliedKeys] | None = None,
        counted: Sequence[Delivery] = (),
    ) -> None:
        self._tables.own("tallies", "tallied_keys", "counted_events")
        self._tables.tallies.update({kept.job: kept for kept in tallies})
        for job, changed in (keys or {}).items():
            known = {**self._tables.tallied_keys.get(job, {}), **changed}
            self._tables.tallied_keys[job] = {place: amount for place, amount in known.items() if amount}
        for job, rows in _rows(counted).items():
            self._tables.counted_events[job] = self._counted(job) | rows

    def remove_counted(self, deliveries: Sequence[Delivery]) -> None:
        """Remove deliveries from the counted events of their jobs."""
        self._tables.own("counted_events")
        for job, rows in _rows(deliveries).items():
            self._tables.counted_events[job] = self._counted(job) - rows

    def delete_tallies(self, jobs: Collection[str]) -> None:
        self._tables.own("tallies", "tallied_keys", "counted_events")
        for job in jobs:
            if self._tables.tallies.pop(job, None) is not None:
                self._tables.tallied_keys.pop(job, None)
                self._tables.counted_events.pop(job, None)


def _rows(deliveries: Sequence[Delivery]) -> dict[str, set[tuple[str, datetime, str]]]:
    """Return leaf, arrival and id of events, by job."""
    found: dict[str, set[tuple[str, datetime, str]]] = {}
    for each in deliveries:
        found.setdefault(each.job or "", set()).add((each.leaf, each.event.arrived, each.event.id))
    return found
