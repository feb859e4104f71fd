"""Alerts in the reference store."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Unpack

from tests.doubles.reference.tables import ReferenceTables
from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.records.alert import Alert, Incident
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

    def incidents(self, project: str) -> tuple[Incident, ...]:
        return tuple(each for _, each in sorted(self._tables.incidents.items()) if each.project == project)

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

    def due_alerts(self, project: str, now: datetime, limit: int) -> tuple[Alert, ...]:
        due = [
            (each.next_at, each.id)
            for each in self._of(project)
            if each.next_at is not None and each.next_at <= now
        ]
        return tuple(self._tables.alerts[id] for _, id in sorted(due)[:limit])

    def alert_counts(self, project: str, app: str | None = None) -> tuple[AlertCount, ...]:
        counts = Counter((each.channel, each.kind, each.state) for each in self._of(project, app))
        return tuple(
            AlertCount(channel=channel, kind=kind, state=state, alerts=count)
            for (channel, kind, state), count in sorted(counts.items())
        )

    def _of(self, project: str, app: str | None = None) -> list[Alert]:
        found = (each for each in self._tables.alerts.values() if each.project == project)
        return [each for each in found if app in (None, app_of(each.subject))]


class AlertWriter(AlertReader, MemoryTransaction):
    """Changes alerts."""

    def set_back(self, now: datetime) -> None:
        super().set_back(now)
        self._tables.own("incidents", "alerts")
        held = self._tables
        held.incidents.update(
            {id: fields_set_back(each, OF_INCIDENTS, now) for id, each in held.incidents.items()}
        )
        held.alerts.update({id: fields_set_back(each, OF_ALERTS, now) for id, each in held.alerts.items()})

    def put_incidents(self, incidents: Sequence[Incident]) -> None:
        self._tables.own("incidents")
        self._tables.incidents.update({each.id: each for each in incidents})

    def drop_incidents(self, ids: Collection[str]) -> None:
        self._tables.own("incidents")
        for id in ids:
            self._tables.incidents.pop(id, None)

    def put_alerts(self, alerts: Sequence[Alert]) -> None:
        self._tables.own("alerts")
        self._tables.alerts.update({each.id: each for each in alerts})

    def drop_alerts(self, before: datetime, limit: int) -> int:
        self._tables.own("alerts")
        old = sorted(
            (each.ended_at, each.id)
            for each in self._tables.alerts.values()
            if each.next_at is None and each.ended_at is not None and each.ended_at < before
        )
        for _, id in old[:limit]:
            del self._tables.alerts[id]
        return len(old[:limit])


def _is_behind(alert: Alert, before: tuple[datetime, str]) -> bool:
    at, id = before
    return alert.made_at < at or (alert.made_at == at and alert.id > id)
