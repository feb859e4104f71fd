"""Alerts in SQL."""

from typing import Unpack

from sqlalchemy import Boolean, Column, Index, Integer, Table, Text, and_, bindparam, func, or_, select

from tidegate.domain.part_name import SEPARATOR
from tidegate.scheduler.model.records.alert import Alert, AlertKind, AlertState, Happening, Incident, Message
from tidegate.scheduler.store.answers import AlertCount
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import Codec, Coded, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata, partial_index
from tidegate.scheduler.store.sql.statements.filters import FilteredQueries, Filters
from tidegate.scheduler.store.sql.statements.queries import every
from tidegate.scheduler.store.wanted import AlertsWanted

incidents = Table(
    "incidents",
    metadata,
    Column("id", Name, primary_key=True),
    Column("project", Name, nullable=False),
    Column("kind", Coded(AlertKind), nullable=False),
    Column("subject", Name, nullable=False),
    Column("opened_at", Instant, nullable=False),
    Column("count", Integer, nullable=False),
    Column("said", Integer, nullable=False),
    Column("alarmed", Boolean, nullable=False),
    Column("open", Json(tuple[str, ...]), nullable=False),
    Column("last", Json(Happening), nullable=False),
    Column("quiet_until", Instant, nullable=False),
)

alerts = Table(
    "alerts",
    metadata,
    Column("id", Name, primary_key=True),
    Column("project", Name, nullable=False),
    Column("channel", Name, nullable=False),
    Column("kind", Coded(AlertKind), nullable=False),
    Column("subject", Name, nullable=False),
    Column("message", Json(Message), nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("state", Coded(AlertState), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("next_at", Instant),
    Column("error", Text, nullable=False),
    Column("ended_at", Instant),
)
_ALERTS = alerts.c
_SCHEDULES = tables.schedules.c
partial_index("ix_schedules_deadline", _SCHEDULES.deadline_of, where=_SCHEDULES.deadline_of.is_not(None))
Index("ix_alerts_made", _ALERTS.project, _ALERTS.made_at, _ALERTS.id)
partial_index("ix_alerts_due", _ALERTS.project, _ALERTS.next_at, where=_ALERTS.next_at.is_not(None))

INCIDENTS = Codec(incidents, Incident)
ALERTS = Codec(alerts, Alert)
_OF_APP = func.substr(_ALERTS.subject, 1, func.length(bindparam("of_app"))) == bindparam("of_app")
"""Not LIKE, which does not tell capital letters apart on SQLite."""
COUNTS = (
    select(_ALERTS.channel, _ALERTS.kind, _ALERTS.state, func.count().label("alerts"))
    .where(_ALERTS.project == bindparam("project"))
    .group_by(_ALERTS.channel, _ALERTS.kind, _ALERTS.state)
    .order_by(_ALERTS.channel, _ALERTS.kind, _ALERTS.state)
)
COUNTS_OF_APP = COUNTS.where(_OF_APP)
_BEFORE = bindparam("before", type_=Instant())
WANTED = Filters(
    query=every(ALERTS),
    value=ALERTS.value,
    lists={"ids": _ALERTS.id, "states": _ALERTS.state},
    equals={"project": _ALERTS.project, "channel": _ALERTS.channel},
    bounds={
        "of_app": _OF_APP,
        "before": or_(
            _ALERTS.made_at < _BEFORE,
            and_(_ALERTS.made_at == _BEFORE, _ALERTS.id > bindparam("before_id", type_=Text)),
        ),
    },
    limits={"limit": (_ALERTS.made_at.desc(), _ALERTS.id)},
)


class AlertReader(FilteredQueries):
    def alerts(self, project: str, **wanted: Unpack[AlertsWanted]) -> tuple[Alert, ...]:
        app = wanted.pop("app", None)
        of_app = None if app is None else f"{app}{SEPARATOR}"
        found = self._wanted(WANTED, {**wanted, "project": project, "of_app": of_app})
        by_id = sorted(found, key=lambda alert: alert.id)
        return tuple(sorted(by_id, key=lambda alert: alert.made_at, reverse=True))

    def alert_counts(self, project: str, app: str | None = None) -> tuple[AlertCount, ...]:
        of = {} if app is None else {"of_app": f"{app}{SEPARATOR}"}
        query = COUNTS if app is None else COUNTS_OF_APP
        rows = self._connection.execute(query, {"project": project, **of}).all()
        return tuple(
            AlertCount(channel=row.channel, kind=row.kind, state=row.state, alerts=row.alerts) for row in rows
        )
