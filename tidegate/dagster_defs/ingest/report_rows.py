"""The rows of the partitions of one report in Dagster's log, made from the row of one of them.

    a partition with marks ──Dagster──► row with marks ──each partition──► row

Dagster makes a materialisation, its event, its entry and their JSON for each partition, which was most of the
host's time under load. Within a report they differ in a few values. What is made here is compared with what
Dagster makes of the last partition: where they differ, Dagster makes all.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from dagster import AssetKey, AssetMaterialization, DagsterInstance, EventLogEntry

from tidegate.dagster_defs.coordinator.event_rows import EventRows
from tidegate.dagster_defs.coordinator.run_rows import Noting
from tidegate.dagster_defs.deployed.sizes import size_metadata
from tidegate.dagster_defs.deployed.tags import EVENT
from tidegate.scheduler.model.records.partitions_report import PartitionsReport, ReportedPartition

MARKED = ReportedPartition(
    event="tidegate:marked-event",
    key="tidegate:marked-key",
    rows=7_236_450_918_273_645,
    bytes=8_127_364_509_182_736,
    at=datetime(1913, 12, 22, 3, 4, 5, 678_901, tzinfo=UTC),
)
"""A partition whose values are found again in the JSON of its entry."""

VALUES: Mapping[str, Callable[[ReportedPartition], str]] = {
    json.dumps(MARKED.event): lambda part: json.dumps(part.event),
    json.dumps(MARKED.key): lambda part: json.dumps(part.key),
    json.dumps(MARKED.at.isoformat()): lambda part: json.dumps(part.at.isoformat()),
    json.dumps(MARKED.rows): lambda part: json.dumps(part.rows),
    json.dumps(MARKED.bytes): lambda part: json.dumps(part.bytes),
}
"""What takes the place of each mark."""

_MARKS = re.compile(f"({'|'.join(map(re.escape, VALUES))})")


class ReportRows:
    """Makes the rows of reports that are written together.

    Attributes:
        rows: in their order.
        last: the position and the entry of the last row of each asset.
    """

    def __init__(self, instance: DagsterInstance, events: EventRows) -> None:
        self.rows: list[Mapping[str, Any]] = []
        self.last: dict[AssetKey, tuple[int, EventLogEntry]] = {}
        self._events = events
        # All of them are written at one instant.
        self._noting = Noting(instance, datetime.now(UTC).timestamp())

    def add(self, key: AssetKey, report: PartitionsReport, parts: Sequence[ReportedPartition]) -> None:
        """Make the rows of some partitions of a report."""
        for _, alike in groupby(parts, _known_values):
            together = list(alike)
            entry = self._entry(key, report, together[-1])
            self.rows += self._rows(key, report, together, self._events.row(entry))
            self.last[key] = len(self.rows) - 1, entry

    def _rows(
        self,
        key: AssetKey,
        report: PartitionsReport,
        parts: Sequence[ReportedPartition],
        last: Mapping[str, Any],
    ) -> Sequence[Mapping[str, Any]]:
        """Make the rows of partitions of which the same values are known.

        Args:
            last: the last row, as Dagster makes it.
        """
        if len(parts) == 1:
            return [last]
        marked = self._events.row(self._entry(key, report, _with_marks(parts[0])))
        pieces = _MARKS.split(marked["event"])
        rows = [
            {**marked, "event": "".join(_filled(pieces, part)), "partition": part.key or None}
            for part in parts
        ]
        if rows[-1] != last:
            return [*(self._events.row(self._entry(key, report, part)) for part in parts[:-1]), last]
        return rows

    def _entry(self, key: AssetKey, report: PartitionsReport, part: ReportedPartition) -> EventLogEntry:
        self._noting.report_runless_asset_event(materialisation(key, report, part))
        return self._noting.entries.pop()


def materialisation(key: AssetKey, report: PartitionsReport, part: ReportedPartition) -> AssetMaterialization:
    """Return what Dagster's log has of a reported partition."""
    return AssetMaterialization(
        key,
        partition=part.key or None,
        description=report.detail,
        metadata={
            **size_metadata(part.rows, part.bytes, part.key),
            "at": part.at.isoformat(),
            EVENT: part.event,
        },
    )


def _known_values(part: ReportedPartition) -> tuple[bool, ...]:
    return part.key != "", part.rows is not None, part.bytes is not None


def _with_marks(part: ReportedPartition) -> ReportedPartition:
    """Return a partition with marks for the values that this one has."""
    return ReportedPartition(
        event=MARKED.event,
        key=MARKED.key if part.key else "",
        rows=None if part.rows is None else MARKED.rows,
        bytes=None if part.bytes is None else MARKED.bytes,
        at=MARKED.at,
    )


def _filled(pieces: Sequence[str], part: ReportedPartition) -> Iterator[str]:
    """Yield the pieces of a text, with the values of a partition at the place of its marks."""
    for position, piece in enumerate(pieces):
        # The pattern is one group, so each second piece is a mark.
        yield VALUES[piece](part) if position % 2 else piece
