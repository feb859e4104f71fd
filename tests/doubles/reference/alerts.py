"""Alerts in the reference store."""

from collections import Counter
from datetime import datetime
from typing import Unpack

from tests.doubles.reference.tables import ReferenceTables
from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.records.alert import ALERTS, INCIDENTS, Alert
from tidegate.scheduler.model.set_back import OF_ALERTS, OF_INCIDENTS, fields_set_back
from tidegate.scheduler.store.answers import (
    AlertCount,
)
from tidegate.scheduler.store.memory.reader import MemoryReader
from tidegate.scheduler.store.memory.store import MemoryTransaction
from tidegate.scheduler.store.wanted import AlertsWanted


class AlertReader(MemoryReader):
    """Reads alerts."""

    _tables: ReferenceTables

    def __init__(self, tables: ReferenceTables) -> None:
        super().__init__(tables)

    def alerts(self, project: str, **wanted: Unpack[AlertsWanted]) -> tuple[Alert, ...]:
        ids, states = wanted.get("ids"), wanted.get("states")
        channel, before = wanted.get("channel"), wanted.get("before")
        found = [
            each
            for each in self._of(project, wanted.get("app"))
            if (ids is None or each.id in ids) and (states is None or each.state in states)
            if channel in (None, each.channel) and (before is None or _is_behind(each, before))
        ]
        newest = sorted(found, key=lambda each: each.id)
        return tuple(sorted(newest, key=lambda each: each.made_at, reverse=True)[: wanted.get("limit")])

    def alert_counts(self, project: str, app: str | None = None) -> tuple[AlertCount, ...]:
        counts = Counter((each.channel, each.kind, each.state) for each in self._of(project, app))
        return tuple(
            AlertCount(channel=channel, kind=kind, state=state, alerts=count)
            for (channel, kind, state), count in sorted(counts.items())
        )

    def _of(self, project: str, app: str | None = None) -> list[Alert]:
        found = self.records(ALERTS, project=[project])
        return [each for each in found if app in (None, app_of(each.subject))]


class AlertWriter(AlertReader, MemoryTransaction):
    """Changes alerts."""

    def set_back(self, now: datetime) -> None:
        super().set_back(now)
        for kind, fields in ((INCIDENTS, OF_INCIDENTS), (ALERTS, OF_ALERTS)):
            self.put_records(kind, [fields_set_back(each, fields, now) for each in self.records(kind)])


def _is_behind(alert: Alert, before: tuple[datetime, str]) -> bool:
    at, id = before
    return alert.made_at < at or (alert.made_at == at and alert.id > id)
