"""Reports of partitions in SQL."""

from datetime import datetime

from sqlalchemy import Column, Index, Integer, Table, Text, bindparam, select

from tidegate.scheduler.model.records.partitions_report import PartitionsReport, ReportedPartition
from tidegate.scheduler.store.sql.columns import Codec, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Changes

partitions_reports = Table(
    "partitions_reports",
    metadata,
    Column("id", Name, primary_key=True),
    Column("project", Name, nullable=False),
    Column("dataset", Name, nullable=False),
    Column("asked", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("partitions", Json(tuple[ReportedPartition, ...]), nullable=False),
    Column("at", Instant, nullable=False),
    Column("owed_since", Instant),
    Column("sent", Integer, nullable=False),
)
Index("ix_partitions_reports_at", partitions_reports.c.at)
Index("ix_partitions_reports_owed", partitions_reports.c.project, partitions_reports.c.owed_since)

REPORTS = Codec(partitions_reports, PartitionsReport)
_TABLE = partitions_reports.c
OLD = (
    select(_TABLE.id)
    .where(_TABLE.at < bindparam("before", type_=Instant()), _TABLE.owed_since.is_(None))
    .order_by(_TABLE.at, _TABLE.id)
    .limit(LIMIT)
)


class PartitionsReportWriter(Changes):
    def drop_partitions_reports(self, before: datetime, limit: int) -> int:
        old = self._connection.execute(OLD, {"before": before, "limit": limit}).scalars().all()
        self._delete(_TABLE.id, old)
        return len(old)
