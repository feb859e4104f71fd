"""Reports of partitions from outside: what was said, and how much of it Dagster's log has.

The report is kept so that a request that comes again gets the answer of the first time, and so that Dagster's
log gets each partition, also after a crash.
"""

import hashlib
import json
from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.model.event import DIGEST_DIGITS
from tidegate.scheduler.model.kind import Kind


class ReportedPartition(Value, kw_only=True):
    """A reported partition.

    Attributes:
        event: id of its event.
        key: "" for a dataset without partitions.
        at: when its data came to be. Aware, UTC.
    """

    event: str
    key: str
    rows: int | None = None
    bytes: int | None = None
    at: datetime


class PartitionsReport(Value, kw_only=True):
    """One accepted report.

    Attributes:
        id: see `report_id`.
        project: that owns the dataset's app.
        dataset: "app/name", as it was called then.
        asked: hash of what was reported.
        detail: who reported, for people.
        at: when it was accepted. Aware, UTC.
        owed_since: since when Dagster's log lacks some of it; None if it has all.
        sent: so many of the partitions Dagster's log has.
    """

    id: str
    project: str
    dataset: str
    asked: str
    detail: str
    partitions: tuple[ReportedPartition, ...]
    at: datetime
    owed_since: datetime | None
    sent: int = 0


PARTITIONS_REPORTS = Kind(
    name="partitions_reports", value=PartitionsReport, key=("id",), by=("project",), due="owed_since"
)


def report_id(project: str, request: str) -> str:
    """Return the id of the report with a request key of the caller's."""
    return _digest(project, request)


def reported_event_id(report: str, asked: str, position: int) -> str:
    """Return the id of the event of a report's partition, the same for every repeat of the report.

    Events that arrive together are routed by their ids: these keep the order of the report.
    """
    return f"report:{_digest(report, asked)}:{position:05}"


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:DIGEST_DIGITS]
