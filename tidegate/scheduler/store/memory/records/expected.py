"""Data that is expected, and what was late, in memory."""

from collections.abc import Collection, Sequence
from datetime import datetime

from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.records.expected import ExpectedData, ExpectedPeriod, LateTotal
from tidegate.scheduler.store.memory.tables import Tables
from tidegate.scheduler.store.wanted import LateWanted


class ExpectedReader:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def expected_data(self, datasets: Collection[str] | None = None) -> tuple[ExpectedData, ...]:
        found = sorted(self._tables.expected_data.items())
        return tuple(each for name, each in found if datasets is None or name in datasets)

    def due_data(self, now: datetime, limit: int) -> tuple[ExpectedData, ...]:
        found = [each for each in self._tables.expected_data.values() if each.due_at is not None]
        due = sorted((each.due_at, each.dataset) for each in found if each.due_at and each.due_at <= now)
        return tuple(self._tables.expected_data[name] for _, name in due[:limit])

    def next_due_data(self) -> datetime | None:
        found = [each.due_at for each in self._tables.expected_data.values() if each.due_at is not None]
        return min(found, default=None)

    def expected_periods(self, dataset: str, periods: Collection[str]) -> tuple[ExpectedPeriod, ...]:
        found = sorted(self._tables.expected_periods.items())
        return tuple(each for (name, key), each in found if name == dataset and key in periods)

    def late_periods(self, wanted: LateWanted, limit: int) -> tuple[ExpectedPeriod, ...]:
        found = [
            (each.due_at, each)
            for _, each in sorted(self._tables.expected_periods.items())
            if each.late_at is not None
            and each.due_at is not None
            and (wanted.apps is None or app_of(each.dataset) in wanted.apps)
            and wanted.dataset in (None, each.dataset)
            and (each.late_now or not wanted.now)
        ]
        newest = sorted(found, key=lambda pair: pair[0], reverse=True)
        return tuple(each for _, each in newest[:limit])

    def late_totals(self, names: Collection[str] | None = None) -> tuple[LateTotal, ...]:
        found = sorted(self._tables.late_totals.items())
        return tuple(each for (_, name), each in found if names is None or name in names)


class ExpectedWriter(ExpectedReader):
    def put_expected_data(self, data: Sequence[ExpectedData]) -> None:
        self._tables.own("expected_data")
        self._tables.expected_data.update({each.dataset: each for each in data})

    def drop_expected_data(self, datasets: Collection[str]) -> None:
        self._tables.own("expected_data", "expected_periods")
        for dataset in datasets:
            self._tables.expected_data.pop(dataset, None)
        for name, key in [each for each in self._tables.expected_periods if each[0] in datasets]:
            del self._tables.expected_periods[name, key]

    def put_expected_periods(self, periods: Sequence[ExpectedPeriod]) -> None:
        self._tables.own("expected_periods")
        self._tables.expected_periods.update({(each.dataset, each.period): each for each in periods})

    def drop_expected_periods(self, dataset: str, periods: Collection[str]) -> None:
        self._tables.own("expected_periods")
        for period in periods:
            self._tables.expected_periods.pop((dataset, period), None)

    def put_late_totals(self, totals: Sequence[LateTotal]) -> None:
        self._tables.own("late_totals")
        self._tables.late_totals.update({(each.kind, each.name): each for each in totals})
