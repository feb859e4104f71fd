"""How the records of each kind are kept: a new kind has its table here, and is declared beside its value."""

from typing import Any, TypeVar, cast

from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS
from tidegate.scheduler.model.records.expected import EXPECTED_DATA, EXPECTED_PERIODS, LATE_TOTALS
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.records.partitions_report import PARTITIONS_REPORTS
from tidegate.scheduler.model.records.specification import SPECIFICATIONS
from tidegate.scheduler.model.records.token import TOKENS
from tidegate.scheduler.model.records.watched import WATCHED_FOLDERS, WATCHED_PARTITIONS
from tidegate.scheduler.model.run import GAUGES
from tidegate.scheduler.store.sql.columns import Codec
from tidegate.scheduler.store.sql.maintenance import rows as maintenance
from tidegate.scheduler.store.sql.records import expected, partitions_reports, specifications, tables
from tidegate.scheduler.store.sql.statements import rows

V = TypeVar("V", bound=Value)

CODECS: dict[Kind[Any], Codec[Any]] = {
    APPS: rows.APPS,
    EXPECTED_DATA: expected.DATA,
    EXPECTED_PERIODS: expected.PERIODS,
    GAUGES: rows.GAUGES,
    LATE_TOTALS: expected.TOTALS,
    MAINTAINED_TABLES: maintenance.TABLES,
    MAINTENANCE_RECORDS: maintenance.RECORDS,
    OVERRIDES: tables.OVERRIDES,
    PARTITIONS_REPORTS: partitions_reports.REPORTS,
    SPECIFICATIONS: specifications.SPECIFICATIONS,
    SUBSCRIPTIONS: rows.SUBSCRIPTIONS,
    TOKENS: tables.TOKENS,
    WATCHED_FOLDERS: tables.WATCHED_FOLDERS,
    WATCHED_PARTITIONS: tables.WATCHED_PARTITIONS,
}


def codec_of(kind: Kind[V]) -> Codec[V]:
    """Return how the records of a kind are kept."""
    return cast("Codec[V]", CODECS[kind])
