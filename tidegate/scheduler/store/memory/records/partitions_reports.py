"""Reports of partitions in memory."""

from collections.abc import Sequence
from datetime import datetime

from tidegate.scheduler.model.records.partitions_report import PartitionsReport
from tidegate.scheduler.store.memory.tables import Tables


class PartitionsReportReader:
    """See `EngineReader`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def partitions_report(self, id: str) -> PartitionsReport | None:
        """See `EngineReader.partitions_report`."""
        return self._tables.partitions_reports.get(id)

    def owed_reports(self, project: str, limit: int) -> tuple[PartitionsReport, ...]:
        """See `EngineReader.owed_reports`."""
        found = sorted(
            (each.owed_since, each.id)
            for each in self._tables.partitions_reports.values()
            if each.owed_since is not None and each.project == project
        )
        return tuple(self._tables.partitions_reports[id] for _, id in found[:limit])


class PartitionsReportWriter(PartitionsReportReader):
    """See `EngineTransaction`."""

    def put_partitions_reports(self, reports: Sequence[PartitionsReport]) -> None:
        """See `EngineTransaction.put_partitions_reports`."""
        self._tables.own("partitions_reports")
        self._tables.partitions_reports.update({each.id: each for each in reports})

    def drop_partitions_reports(self, before: datetime, limit: int) -> int:
        """See `EngineTransaction.drop_partitions_reports`."""
        self._tables.own("partitions_reports")
        old = sorted(
            (each.at, each.id)
            for each in self._tables.partitions_reports.values()
            if each.at < before and each.owed_since is None
        )
        for _, id in old[:limit]:
            del self._tables.partitions_reports[id]
        return len(old[:limit])
