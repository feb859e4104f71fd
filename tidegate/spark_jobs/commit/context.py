"""What a commit step acts on: files, watermarks, who is told, and Spark where it cannot do without.

Spark is given as what starts it, since most sequences never need it: a publish of Parquet
is finished where no session runs. A step that publishes into a table format asks for the
session when it is verified or executed, never when it is made, encoded or decoded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tidegate.domain.commits import Watermark, WatermarkMove
from tidegate.domain.published import PartitionFact
from tidegate.spark_jobs.errors import CommitFailed
from tidegate.spark_jobs.files.filesystem import FileSystem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Watermarks(Protocol):
    """The part of the commit store that a watermark step needs."""

    def watermarks(self, consumer: str, source: str, part: str | None = None) -> Mapping[str, Watermark]:
        """See `CommitStepStore.watermarks`."""
        ...

    def set_watermark(self, move: WatermarkMove, position: str, commit: str) -> bool:
        """See `CommitStepStore.set_watermark`."""
        ...


class Events(Protocol):
    """Tells the scheduler of published partitions, each once however often it is called."""

    def reported(self, commit: str, partitions: Sequence[PartitionFact]) -> bool:
        """Whether all of them are known to have been published by this commit."""
        ...

    def report(self, commit: str, partitions: Sequence[PartitionFact]) -> None:
        """Makes them known; those that are known already stay as they are."""
        ...


class NoEvents:
    """Where nobody can be told. A sequence that has someone to tell cannot be finished there."""

    def reported(self, commit: str, partitions: Sequence[PartitionFact]) -> bool:
        """See `Events.reported`."""
        raise _nobody()

    def report(self, commit: str, partitions: Sequence[PartitionFact]) -> None:
        """See `Events.report`."""
        raise _nobody()


class NoWatermarks:
    """Where there is no store. Whoever finishes a sequence puts the sequence's own store in its place."""

    def watermarks(self, consumer: str, source: str, part: str | None = None) -> Mapping[str, Watermark]:
        """See `CommitStepStore.watermarks`."""
        raise _nobody()

    def set_watermark(self, move: WatermarkMove, position: str, commit: str) -> bool:
        """See `CommitStepStore.set_watermark`."""
        raise _nobody()


def _nobody() -> CommitFailed:
    return CommitFailed(
        "this step needs the schedule store, and none was given",
        "finish the commit with: tidegate commits recover",
    )


def _no_spark() -> "SparkSession":
    raise CommitFailed(
        "this step needs Spark, and none was given", "finish the commit with: tidegate commits recover"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitContext:
    """Where steps act.

    Attributes:
        files: the file system of the warehouse.
        spark: the session of this process, started when first asked for.
        watermarks: the store of the sequence, as far as watermarks go.
        events: who is told of what was published.
    """

    files: FileSystem
    spark: "Callable[[], SparkSession]" = _no_spark
    watermarks: Watermarks = field(default_factory=NoWatermarks)
    events: Events = field(default_factory=NoEvents)
