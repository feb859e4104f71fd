"""How the records of each kind are kept: a new kind has its table here, and is declared beside its value."""

from typing import Any, TypeVar, cast

from sqlalchemy import Column, ColumnElement

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS
from tidegate.scheduler.model.records.alert import ALERTS, INCIDENTS
from tidegate.scheduler.model.records.expected import EXPECTED_DATA, EXPECTED_PERIODS, LATE_TOTALS
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.records.partitions_report import PARTITIONS_REPORTS
from tidegate.scheduler.model.records.specification import SPECIFICATIONS
from tidegate.scheduler.model.records.token import TOKENS
from tidegate.scheduler.model.records.watched import WATCHED_FOLDERS, WATCHED_PARTITIONS
from tidegate.scheduler.model.run import GAUGES
from tidegate.scheduler.store.sql.columns import Codec
from tidegate.scheduler.store.sql.maintenance import rows as maintenance
from tidegate.scheduler.store.sql.records import alerts, expected, tables
from tidegate.scheduler.store.sql.statements import rows

V = TypeVar("V", bound=Value)

CODECS: dict[Kind[Any], Codec[Any]] = {
    ALERTS: alerts.ALERTS,
    APPS: rows.APPS,
    EXPECTED_DATA: expected.DATA,
    EXPECTED_PERIODS: expected.PERIODS,
    GAUGES: rows.GAUGES,
    INCIDENTS: alerts.INCIDENTS,
    LATE_TOTALS: expected.TOTALS,
    MAINTAINED_TABLES: maintenance.TABLES,
    MAINTENANCE_RECORDS: maintenance.RECORDS,
    OVERRIDES: tables.OVERRIDES,
    PARTITIONS_REPORTS: tables.REPORTS,
    SPECIFICATIONS: tables.SPECIFICATIONS,
    SUBSCRIPTIONS: rows.SUBSCRIPTIONS,
    TOKENS: tables.TOKENS,
    WATCHED_FOLDERS: tables.WATCHED_FOLDERS,
    WATCHED_PARTITIONS: tables.WATCHED_PARTITIONS,
}


_ALERTS, _PERIODS, _REPORTS = (
    alerts.alerts.c,
    expected.expected_periods.c,
    tables.partitions_reports.c,
)
OVER: dict[Kind[Any], tuple[Column[Any], ColumnElement[bool]]] = {
    ALERTS: (_ALERTS.ended_at, _ALERTS.next_at.is_(None)),
    EXPECTED_PERIODS: (_PERIODS.was_late, _PERIODS.was_late.is_not(None)),
    PARTITIONS_REPORTS: (_REPORTS.at, _REPORTS.owed_since.is_(None)),
}
"""Since when a record is over, and which ones are."""


def codec_of(kind: Kind[V]) -> Codec[V]:
    """Return how the records of a kind are kept."""
    return cast("Codec[V]", CODECS[kind])
