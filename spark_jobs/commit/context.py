"""What a commit step acts on: the file system, and Spark where a step cannot do without.

Spark is given as what starts it, since most sequences never need it: a publish of Parquet
is finished where no session runs. A step that publishes into a table format asks for the
session when it is verified or executed, never when it is made, encoded or decoded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_jobs.errors import CommitFailed
from spark_jobs.io.filesystem import FileSystem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    """

    files: FileSystem
    spark: "Callable[[], SparkSession]" = _no_spark
