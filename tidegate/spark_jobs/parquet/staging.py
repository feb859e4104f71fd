"""Writes rows into one staging folder per partition, where no reader sees them.

    <folder>/__tidegate_key=3/part-….parquet      with a marker beside it, written last

Spark's writer sorts the rows by folder; when there are few partitions their
folders are numbered, since numbers sort faster than text. The partition columns stay in
the files, as strings, so that a folder can be read by itself wherever it is moved.
Used by a run for its output, and by a merge for the survivors.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from pyspark.sql import Column, DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as sf

from tidegate.domain.partition_key import SEPARATOR
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.step import CommitStep
from tidegate.spark_jobs.datasets.partition_columns import NO_VALUE
from tidegate.spark_jobs.files.filesystem import FileSystem, is_data
from tidegate.spark_jobs.java.classes import java_classes
from tidegate.spark_jobs.parquet.folders.copy_folder import CopyFolder, digests_of
from tidegate.spark_jobs.parquet.folders.publish_folder import FolderMarker, PublishFolder, write_marker
from tidegate.spark_jobs.parquet.version_log import PartitionEntry

KEY_COLUMN = "__tidegate_key"
KEY_MARK = "k"
"""Prefix of a key in the name of its folder, which distinguishes it from a number."""
NUMBERED_KEYS = 32
"""The most keys that are numbered. Each row is compared with one after the other."""
OTHER_KEYS = -1
"""The number of all keys outside the run's partitions."""
COMMITTER = "mapreduce.fileoutputcommitter.algorithm.version"
FOOTERS = 200
"""The most files whose rows are counted by reading their footers; Spark counts those of more files."""


class StagedFolder(Value, kw_only=True):
    """One partition as it was staged.

    Attributes:
        folder: absolute path.
        marker: the content of its marker file.
        rows: number of rows.
        digests: SHA-256 of each data file, where the folder cannot be moved atomically; else None.
    """

    folder: str
    marker: FolderMarker
    rows: int
    digests: dict[str, str] | None = None

    def step(self, target: str) -> CommitStep:
        """Return the step that moves it to its place, an absolute path."""
        if self.digests is None:
            return PublishFolder(source=self.folder, target=target, marker=self.marker)
        return CopyFolder(source=self.folder, target=target, marker=self.marker, digests=self.digests)

    def entry(self, path: str, token: int) -> PartitionEntry:
        """Return its entry in the version log, for a `path` relative to the table's root."""
        sizes = self.marker.files
        return PartitionEntry(
            path=path,
            commit=self.marker.commit,
            token=token,
            rows=self.rows,
            bytes=sum(sizes.values()),
            files=len(sizes),
        )


def write_by_key(
    frame: DataFrame, dimensions: Sequence[str], keys: Sequence[str], files: FileSystem, folder: str
) -> dict[str, int]:
    """Write all rows into the folder.

    Args:
        keys: the expected keys; rows of other keys are written too.

    Returns:
        The number of rows, by key that has any.
    """
    if not dimensions:
        _writer(frame).parquet(f"{folder}/{KEY_COLUMN}=0")
    elif len(keys) <= NUMBERED_KEYS:
        numbers = (sf.when(_key_of(dimensions) == key, sf.lit(n)) for n, key in enumerate(keys))
        number = sf.coalesce(*numbers, sf.lit(OTHER_KEYS))
        _writer(frame.withColumn(KEY_COLUMN, number)).partitionBy(KEY_COLUMN).parquet(folder)
    else:
        marked = sf.concat(sf.lit(KEY_MARK), _key_of(dimensions))
        _writer(frame.withColumn(KEY_COLUMN, marked)).partitionBy(KEY_COLUMN).parquet(folder)
    rows = _rows_by_folder(frame.sparkSession, files, folder)
    others = rows.pop(str(OTHER_KEYS), 0)
    counts = {_key_in(name, keys): count for name, count in rows.items() if count}
    if others:
        strays = frame.sparkSession.read.parquet(f"{folder}/{KEY_COLUMN}={OTHER_KEYS}")
        found = strays.groupBy(_key_of(dimensions).alias(KEY_COLUMN)).count().collect()
        counts |= {row[KEY_COLUMN]: row["count"] for row in found}
    return counts


def seal(
    files: FileSystem, folder: str, keys: Sequence[str], rows: Mapping[str, int], *, commit: str, token: int
) -> dict[str, StagedFolder]:
    """Mark the folders that `write_by_key` has written as those of a commit, durably; one per key.

    Args:
        keys: the keys given to `write_by_key`.
        rows: its result, which must not have other keys.
    """
    moves = files.moves_folders_whole(folder)
    sealed: dict[str, StagedFolder] = {}
    for name in _folders(files, folder):
        key, where = _key_in(name, keys), f"{folder}/{KEY_COLUMN}={name}"
        if not rows.get(key):
            continue
        marker = write_marker(files, where, commit=commit, token=token)
        digests = None if moves else digests_of(files, where, marker)
        sealed[key] = StagedFolder(folder=where, marker=marker, rows=rows[key], digests=digests)
    return sealed


def _writer(frame: DataFrame) -> DataFrameWriter:
    """Return a writer that never mixes files of a failed task with those of its retry.

    Hadoop's second algorithm does: it moves a task's files into the folder one by one when the task ends.
    """
    return frame.write.option(COMMITTER, 1)


def _key_of(dimensions: Sequence[str]) -> Column:
    values = [sf.coalesce(sf.col(f"`{name}`"), sf.lit(NO_VALUE)) for name in dimensions]
    return values[0] if len(values) == 1 else sf.concat_ws(SEPARATOR, *values)


def _folders(files: FileSystem, folder: str) -> list[str]:
    """Return the value after the "=" in each folder's name."""
    prefix = f"{KEY_COLUMN}="
    return [
        entry.name.removeprefix(prefix)
        for entry in files.list(folder)
        if entry.is_folder and entry.name.startswith(prefix)
    ]


def _key_in(name: str, keys: Sequence[str]) -> str:
    """Return the key of a folder. Spark escapes texts in folder names."""
    return unquote(name.removeprefix(KEY_MARK)) if name.startswith(KEY_MARK) else keys[int(name)]


def _rows_by_folder(spark: SparkSession, files: FileSystem, folder: str) -> dict[str, int]:
    """Return the number of rows in each folder, counted in the files that will be published."""
    found = {
        name: [
            f"{folder}/{KEY_COLUMN}={name}/{entry.name}"
            for entry in files.list(f"{folder}/{KEY_COLUMN}={name}")
            if is_data(entry.name)
        ]
        for name in _folders(files, folder)
    }
    if sum(len(paths) for paths in found.values()) <= FOOTERS:
        return {name: sum(_rows_in(spark, path) for path in paths) for name, paths in found.items()}
    staged = spark.read.schema(f"{KEY_COLUMN} string").parquet(folder)
    counted = staged.groupBy(KEY_COLUMN).count().collect()
    return {quote(row[KEY_COLUMN], safe=""): row["count"] for row in counted}


def _rows_in(spark: SparkSession, file: str) -> int:
    """Return the number of rows in a file. PySpark has no API to read a footer."""
    java: Any = java_classes(spark)
    parquet = java.org.apache.parquet.hadoop
    context: Any = spark.sparkContext
    path = java.org.apache.hadoop.fs.Path(file)
    source = parquet.util.HadoopInputFile.fromPath(path, context._jsc.hadoopConfiguration())
    reader = parquet.ParquetFileReader.open(source)
    try:
        return int(reader.getRecordCount())
    finally:
        reader.close()
