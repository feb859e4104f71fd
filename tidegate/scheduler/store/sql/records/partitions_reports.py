"""Reports of partitions in SQL."""

from sqlalchemy import Column, Index, Integer, Table, Text

from tidegate.scheduler.model.records.partitions_report import PartitionsReport, ReportedPartition
from tidegate.scheduler.store.sql.columns import Codec, Instant, Json, Name
from tidegate.scheduler.store.sql.metadata import metadata

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
