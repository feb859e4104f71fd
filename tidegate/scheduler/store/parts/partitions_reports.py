"""The protocols of reports of partitions; see `scheduler.store.protocol`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tidegate.scheduler.model.records.partitions_report import PartitionsReport


class PartitionsReportRows(Protocol):
    """Reads reports."""

    def partitions_report(self, id: str) -> PartitionsReport | None:
        """The report of this id."""
        ...

    def owed_reports(self, project: str, limit: int) -> tuple[PartitionsReport, ...]:
        """The reports of a project that Dagster's log lacks, by `owed_since`, then id."""
        ...


class PartitionsReportChanges(Protocol):
    """Changes reports."""

    def put_partitions_reports(self, reports: Sequence[PartitionsReport]) -> None:
        """Create or replace reports, by id."""
        ...

    def drop_partitions_reports(self, before: datetime, limit: int) -> int:
        """Remove reports of before an instant that are not owed, the oldest first; return how many."""
        ...
