"""Overrides in memory."""

from collections.abc import Collection, Sequence
from datetime import datetime

from tidegate.scheduler.model.records.override import Override
from tidegate.scheduler.store.memory.tables import Tables


class OverrideReader:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def overrides(
        self, *, app: str | None = None, refs: Collection[str] | None = None
    ) -> tuple[Override, ...]:
        return tuple(
            each
            for _, each in sorted(self._tables.overrides.items())
            if app in (None, each.app) and (refs is None or each.ref in refs)
        )

    def expiring(self, until: datetime, limit: int) -> tuple[Override, ...]:
        due = [
            (each.expires_at, each.ref, each.kind, each)
            for each in self._tables.overrides.values()
            if each.expires_at is not None and each.expires_at <= until
        ]
        return tuple(each for *_, each in sorted(due, key=lambda found: found[:3])[:limit])


class OverrideWriter(OverrideReader):
    def put_overrides(self, overrides: Sequence[Override]) -> None:
        self._tables.own("overrides")
        self._tables.overrides.update({(each.ref, each.kind): each for each in overrides})

    def delete_overrides(self, overrides: Sequence[Override]) -> None:
        self._tables.own("overrides")
        for each in overrides:
            self._tables.overrides.pop((each.ref, each.kind), None)
