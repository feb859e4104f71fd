"""Records of every kind in memory, what is asked of them not by key, and the counts of waiting jobs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.model.event import Delivery, Event
from tidegate.scheduler.model.kind import Key, Kind, whole
from tidegate.scheduler.model.records.expected import EXPECTED_PERIODS, ExpectedPeriod
from tidegate.scheduler.model.records.specification import SPECIFICATIONS, Specification
from tidegate.scheduler.model.records.tally import KeptTally, TalliedKeys
from tidegate.scheduler.store.memory.tables import Tables, as_stored
from tidegate.scheduler.store.wanted import LateWanted

V = TypeVar("V", bound=Value)


class RecordReader:
    """Reads records."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def records(self, kind: Kind[V], /, **among: Collection[str] | None) -> tuple[V, ...]:
        narrowed = kind.narrowed_by(among)
        found = (
            value
            for value in self._tables.records_of(kind).values()
            if all(getattr(value, name) in values for name, values in narrowed.items())
        )
        return tuple(sorted(found, key=kind.place_of))

    def due_records(self, kind: Kind[V], until: datetime | None, limit: int, /, **same: str) -> tuple[V, ...]:
        due = [value for value in self.records(kind, **same) if kind.due_at(value) is not None]
        due = [value for value in due if until is None or kind.due_at(value) <= until]
        return tuple(sorted(due, key=kind.due_at)[:limit])

    def specifications(self, until: int, *, apps: Collection[str] | None = None) -> tuple[Specification, ...]:
        found: dict[str, Specification] = {}
        for each in self.records(SPECIFICATIONS):
            if each.number <= until and (apps is None or each.app in apps):
                found[each.ref] = each
        return tuple(found.values())

    def late_periods(self, wanted: LateWanted, limit: int) -> tuple[ExpectedPeriod, ...]:
        found = [
            (each.due_at, each)
            for each in self.records(EXPECTED_PERIODS)
            if each.late_at is not None
            and each.due_at is not None
            and (wanted.apps is None or app_of(each.dataset) in wanted.apps)
            and wanted.dataset in (None, each.dataset)
            and (each.late_now or not wanted.now)
        ]
        newest = sorted(found, key=lambda pair: pair[0], reverse=True)
        return tuple(each for _, each in newest[:limit])


class RecordWriter(RecordReader):
    """Changes records."""

    def put_records(self, kind: Kind[V], values: Iterable[V]) -> None:
        self._tables.own_records(kind).update({kind.key_of(value): as_stored(value) for value in values})

    def drop_records(self, kind: Kind[Any], keys: Iterable[Key]) -> None:
        held = self._tables.own_records(kind)
        for key in map(whole, keys):
            if len(key) == len(kind.key):
                held.pop(key, None)
            else:
                for other in [each for each in held if each[: len(key)] == key]:
                    del held[other]


class TallyReader:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def tallies(self, jobs: Collection[str]) -> dict[str, KeptTally]:
        return {job: self._tables.tallies[job] for job in sorted(jobs) if job in self._tables.tallies}

    def tallied_keys(self, job: str, keys: Collection[str]) -> dict[tuple[str, str], int]:
        known = self._tables.tallied_keys.get(job, {})
        return {place: amount for place, amount in known.items() if place[1] in keys}

    def counted_keys(self, job: str, place: str) -> tuple[str, ...]:
        return tuple(sorted(key for leaf, key in self._tables.tallied_keys.get(job, {}) if leaf == place))

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
