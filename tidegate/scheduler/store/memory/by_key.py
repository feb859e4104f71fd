"""Records of every kind in memory, and the two questions about them that are not by key."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, TypeVar

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Key, Kind, whole
from tidegate.scheduler.model.records.expected import EXPECTED_PERIODS, ExpectedPeriod
from tidegate.scheduler.model.records.specification import SPECIFICATIONS, Specification
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
