"""Writes rows into folders of their own, one for each partition, where no reader looks.

    <folder>/__tidegate_key=k<key>/part-….parquet      with a marker beside, written last

Spark's writer sorts the rows by the folder and puts them there. The partition columns stay
in the files, as strings, so that a folder can be read by itself wherever it is moved to.
Used by a run for its output, and by a merge for what is left of a partition.
"""

from collections.abc import Sequence
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructType

from compiler.partition_key import SEPARATOR
from compiler.value import Value
from spark_jobs.commit.step import CommitStep
from spark_jobs.commit.steps.copy_folder import CopyFolder, digests_of
from spark_jobs.commit.steps.publish_folder import FolderMarker, PublishFolder, write_marker
from spark_jobs.io.filesystem import FileSystem
from spark_jobs.io.partition_columns import NO_VALUE
from spark_jobs.io.version_log import PartitionEntry

KEY_COLUMN = "__tidegate_key"
KEY_MARK = "k"
"""Stands before a staged key: Spark can name no folder after "", the key of a table without partitions."""


class StagedFolder(Value, kw_only=True):
    """One partition as it was staged.

    Attributes:
        folder: absolute path.
        marker: what is written in it.
        rows: number of rows.
        digests: SHA-256 of each data file, where the folder cannot be moved whole; else nothing.
    """

    folder: str
    marker: FolderMarker
    rows: int
    digests: dict[str, str] | None = None

    def step(self, target: str) -> CommitStep:
        """Brings it to its place, an absolute path."""
        if self.digests is None:
            return PublishFolder(source=self.folder, target=target, marker=self.marker)
        return CopyFolder(source=self.folder, target=target, marker=self.marker, digests=self.digests)

    def entry(self, path: str, token: int) -> PartitionEntry:
        """What the version log says of it once it stands at `path`, relative to the table's root."""
        sizes = self.marker.files
        return PartitionEntry(
            path=path,
            commit=self.marker.commit,
            token=token,
            rows=self.rows,
            bytes=sum(sizes.values()),
            files=len(sizes),
        )


def write_by_key(frame: DataFrame, dimensions: Sequence[str], folder: str) -> dict[str, int]:
    """Writes all rows into the folder. Returns the number of rows of each key that has any."""
    frame.withColumn(KEY_COLUMN, _key_of(dimensions)).write.partitionBy(KEY_COLUMN).parquet(folder)
    return _rows_by_key(frame.sparkSession, folder)


def seal(
    files: FileSystem, folder: str, rows: dict[str, int], *, commit: str, token: int
) -> dict[str, StagedFolder]:
    """Marks what `write_by_key` has written as a commit's, whole and durable; one folder a key."""
    moves = files.moves_folders_whole(folder)
    sealed: dict[str, StagedFolder] = {}
    for key, where in _folders(files, folder).items():
        if not rows.get(key):
            continue
        marker = write_marker(files, where, commit=commit, token=token)
        digests = None if moves else digests_of(files, where, marker)
        sealed[key] = StagedFolder(folder=where, marker=marker, rows=rows[key], digests=digests)
    return sealed


def _key_of(dimensions: Sequence[str]) -> Column:
    values = (sf.coalesce(sf.col(name), sf.lit(NO_VALUE)) for name in dimensions)
    return sf.concat(sf.lit(KEY_MARK), sf.concat_ws(SEPARATOR, *values))


def _folders(files: FileSystem, folder: str) -> dict[str, str]:
    """The folder of each key. Spark escapes the key in the folder's name."""
    prefix = f"{KEY_COLUMN}={KEY_MARK}"
    return {
        unquote(entry.name.removeprefix(prefix)): f"{folder}/{entry.name}"
        for entry in files.list(folder)
        if entry.is_folder and entry.name.startswith(prefix)
    }


def _rows_by_key(spark: SparkSession, folder: str) -> dict[str, int]:
    """Number of rows of each key, read back from the files that will be published."""
    schema = StructType().add(KEY_COLUMN, StringType())
    staged = spark.read.schema(schema).parquet(folder)
    counted = staged.groupBy(KEY_COLUMN).count().collect()
    return {row[KEY_COLUMN].removeprefix(KEY_MARK): row["count"] for row in counted}
