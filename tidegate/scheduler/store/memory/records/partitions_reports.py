"""Reports of partitions in memory."""

from collections.abc import Sequence

from tidegate.scheduler.model.records.partitions_report import PartitionsReport
from tidegate.scheduler.store.memory.tables import Tables


class PartitionsReportReader:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def partitions_report(self, id: str) -> PartitionsReport | None:
        return self._tables.partitions_reports.get(id)


class PartitionsReportWriter(PartitionsReportReader):
    def put_partitions_reports(self, reports: Sequence[PartitionsReport]) -> None:
        self._tables.own("partitions_reports")
        self._tables.partitions_reports.update({each.id: each for each in reports})
