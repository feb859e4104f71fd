"""What a commit step acts on: the file system, the watermarks, and Spark where it cannot do without.

Spark is given as what starts it, since most sequences never need it: a publish of Parquet
is finished where no session runs. A step that publishes into a table format asks for the
session when it is verified or executed, never when it is made, encoded or decoded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from spark_jobs.commit.memory import MemoryCommitStepStore
from spark_jobs.commit.store import Mark, WatermarkMove
from spark_jobs.errors import CommitFailed
from spark_jobs.io.filesystem import FileSystem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Watermarks(Protocol):
    """The part of the commit store that a watermark step needs."""

    def watermarks(self, consumer: str, source: str) -> Mapping[str, Mark]:
        """See `CommitStepStore.watermarks`."""
        ...

    def set_watermark(self, move: WatermarkMove, position: str, commit: str) -> bool:
        """See `CommitStepStore.set_watermark`."""
        ...


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
    """

    files: FileSystem
    spark: "Callable[[], SparkSession]" = _no_spark
    watermarks: Watermarks = field(default_factory=MemoryCommitStepStore)
