"""What a caller gets to know of a report that was accepted: the same over HTTP and on the command line."""

from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.model.records.partitions_report import PartitionsReport


class AcceptedPartition(Value, kw_only=True):
    """A partition as it was accepted.

    Attributes:
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
        request: the caller's key of the report; None for a report without one.
        repeated: the report was accepted before, and this call changed nothing.
    """

    app: str
    dataset: str
    request: str | None
    partitions: list[AcceptedPartition]
    repeated: bool = False


def accepted(report: PartitionsReport, app: str, dataset: str, request: str, repeated: bool) -> Accepted:
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
    )
