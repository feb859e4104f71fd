"""What a commit step acts on: files, watermarks, the scheduler's events, and Spark where a step needs it.

Spark is passed as the function that starts it, since most sequences never need it: a publish of
Parquet can be finished in a process without a session. A step that needs the session starts it in
`verify` or `execute`, never when it is created, encoded or decoded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tidegate.domain.commits import NewWatermark, Watermark, WatermarkMove
from tidegate.domain.published import PartitionFact
from tidegate.spark_jobs.errors import CommitFailed
from tidegate.spark_jobs.files.filesystem import FileSystem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Watermarks(Protocol):
    """The part of the commit store that a watermark step needs."""

    def watermarks(self, consumer: str, source: str, part: str | None = None) -> Mapping[str, Watermark]: ...

    def set_watermark(self, move: WatermarkMove, position: str, commit: str) -> bool: ...

    def set_watermarks(self, moved: Sequence[NewWatermark]) -> None: ...


class Events(Protocol):
    """Reports published partitions to the scheduler, each once even if it is called again."""

    def reported(self, commit: str, partitions: Sequence[PartitionFact]) -> bool:
        """Return whether all of these partitions are recorded as published by this commit."""
        ...

    def report(self, commit: str, partitions: Sequence[PartitionFact]) -> None:
        """Record the partitions as published; those already recorded stay unchanged."""
        ...

    def record_finished(self, commit: str) -> None:
        """Record that every step of a commit is done; called again after a crash."""
        ...


class NoEvents:
    """Events without a scheduler: a sequence that reports events cannot be finished here."""

    def reported(self, commit: str, partitions: Sequence[PartitionFact]) -> bool:
        raise _no_store()

    def report(self, commit: str, partitions: Sequence[PartitionFact]) -> None:
        raise _no_store()

    def record_finished(self, commit: str) -> None:
        """No engine waits for it."""


class NoWatermarks:
    """Watermarks without a store. `finish` replaces them by the sequence's own store."""

    def watermarks(self, consumer: str, source: str, part: str | None = None) -> Mapping[str, Watermark]:
        raise _no_store()

    def set_watermark(self, move: WatermarkMove, position: str, commit: str) -> bool:
        raise _no_store()

    def set_watermarks(self, moved: Sequence[NewWatermark]) -> None:
        raise _no_store()


def _no_store() -> CommitFailed:
    return CommitFailed(
        "this step needs the schedule store, which is not available here",
        "finish the commit with: tidegate commits recover",
    )


def _no_spark() -> "SparkSession":
    raise CommitFailed(
        "this step needs Spark, which is not available here",
        "finish the commit with: tidegate commits recover",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitContext:
    """What steps act on.

    Attributes:
        files: the file system of the warehouse.
        spark: returns the session of this process; the first call starts it.
        watermarks: the store of the sequence.
        events: receives the published partitions.
    """

    files: FileSystem
    spark: "Callable[[], SparkSession]" = _no_spark
    watermarks: Watermarks = field(default_factory=NoWatermarks)
    events: Events = field(default_factory=NoEvents)
