"""Reports from outside: what a caller gets to know of an accepted one, and the refused ones.

The newest reports that were refused, with the reason: a person who reported data looks for them. A refused
report is not an event: no schedule could listen to it. The store keeps a bounded list of them under one
cursor. The same report read twice is one.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.model.records.partitions_report import PartitionsReport
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction


class AcceptedPartition(Value, kw_only=True):
    """A partition as it was accepted.

    Attributes:
        rows, bytes: its size; None where the reporter does not know it.
        key: "" for a dataset without partitions.
        at: when its data came to be. Aware, UTC.
        event: id of its event.
    """

    key: str
    rows: int | None
    bytes: int | None
    at: datetime
    event: str


class Accepted(Value, kw_only=True):
    """The answer to a report.

    Attributes:
        app, dataset: which was reported.
        partitions: as they were accepted.
        request: the caller's key of the report; None for a report without one.
        repeated: the report was accepted before, and this call changed nothing.
        warnings: why the report may be a mistake: a program writes the dataset, or its local folder has no
            files of the partition, or bad ones.
    """

    app: str
    dataset: str
    request: str | None
    partitions: list[AcceptedPartition]
    repeated: bool = False
    warnings: list[str] = []


def accepted(
    report: PartitionsReport,
    app: str,
    dataset: str,
    request: str,
    repeated: bool,
    warnings: Sequence[str] = (),
) -> Accepted:
    """Return the answer to a report.

    Args:
        app: as the caller named it; a rename may have changed it since the first call.
        request: the caller's key; "" for none.
    """
    return Accepted(
        app=app,
        dataset=dataset,
        request=request or None,
        partitions=[
            AcceptedPartition(key=each.key, rows=each.rows, bytes=each.bytes, at=each.at, event=each.event)
            for each in report.partitions
        ],
        repeated=repeated,
        warnings=list(warnings),
    )


MAX_REFUSED = 200
"""The newest reports that are kept; a feed with a wrong key may report without end."""

CURSOR = "refused-reports"


class RefusedReport(Value, kw_only=True):
    """A report from outside that names no partition of a deployed dataset.

    Attributes:
        id: made from the content of the report.
        at: when it was reported. Aware, UTC.
        key: "partition:app/dataset", as an event of that dataset would have it.
        partition: the partition that was reported; "" without one.
        reason: what is wrong with it.
    """

    id: str
    at: datetime
    key: str
    partition: str
    reason: str


def refused_reports(reader: EngineReader) -> tuple[RefusedReport, ...]:
    """The refused reports that are kept, the newest first."""
    return msgspec.convert(reader.cursor(CURSOR) or [], type=tuple[RefusedReport, ...])


def note_refused(transaction: EngineTransaction, reports: Sequence[RefusedReport]) -> None:
    """Add refused reports to those that are kept, and forget the oldest beyond `MAX_REFUSED`."""
    known = {report.id: report for report in refused_reports(transaction)}
    fresh = {report.id: report for report in reports if report.id not in known}
    if fresh:
        newest = sorted({**known, **fresh}.values(), key=lambda report: (report.at, report.id), reverse=True)
        transaction.set_cursor(CURSOR, msgspec.to_builtins(newest[:MAX_REFUSED]))
