"""Writes rows into one staging folder per partition, where no reader sees them.

    <folder>/__tidegate_key=3/part-….parquet      with a marker beside it, written last

Spark's writer sorts the rows by folder; when there are few partitions their
folders are numbered, since numbers sort faster than text. The partition columns stay in
the files, as strings, so that a folder can be read by itself wherever it is moved.
Used by a run for its output, and by a merge for the survivors.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

from pyspark.sql import Column, DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as sf

from tidegate.domain.partition_key import SEPARATOR
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.step import CommitStep
from tidegate.spark_jobs.datasets.file_reader import file_reader
from tidegate.spark_jobs.datasets.partition_columns import NO_VALUE, by_partition
from tidegate.spark_jobs.files.filesystem import FileSystem, is_data
from tidegate.spark_jobs.java.jvm import java_classes
from tidegate.spark_jobs.parquet.folders.copy_folder import CopyFolder, digests_of
from tidegate.spark_jobs.parquet.folders.publish_folder import FolderMarker, PublishFolder, write_marker
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry

KEY_COLUMN = "__tidegate_key"
KEY_MARK = "k"
"""Prefix of a key in the name of its folder, which distinguishes it from a number."""
NUMBERED_KEYS = 32
"""The most keys that are numbered. Each row is compared with one after the other."""
DIGEST_MARK = "d"
"""Prefix of the digest of a key that is too long for the name of a folder."""
LONG_KEY_BYTES = 70
"""Spark escapes some bytes as three characters; a name has at most 255."""
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
    else:
        marked = frame.withColumn(KEY_COLUMN, _marked(dimensions, keys))
        _writer(by_partition(marked, [KEY_COLUMN], keys)).partitionBy(KEY_COLUMN).parquet(folder)
    rows = _rows_by_folder(frame.sparkSession, files, folder)
    known = {name: _key_in(name, keys) for name in rows}
    counts = {key: rows[name] for name, key in known.items() if key is not None and rows[name]}
    others = [f"{folder}/{KEY_COLUMN}={name}" for name, key in known.items() if key is None and rows[name]]
    if others:
        strays = file_reader(frame.sparkSession).parquet(*others)
        found = strays.groupBy(_key_of(dimensions).alias(KEY_COLUMN)).count().collect()
        counts |= {row[KEY_COLUMN]: row["count"] for row in found}
    return counts


def _marked(dimensions: Sequence[str], keys: Sequence[str]) -> Column:
    """Return what names the folder of a row."""
    key = _key_of(dimensions)
    if len(keys) <= NUMBERED_KEYS:
        numbers = (sf.when(key == one, sf.lit(number)) for number, one in enumerate(keys))
        return sf.coalesce(*numbers, sf.lit(OTHER_KEYS))
    digest = sf.concat(sf.lit(DIGEST_MARK), sf.sha2(key, 256))
    return sf.when(sf.octet_length(key) > LONG_KEY_BYTES, digest).otherwise(sf.concat(sf.lit(KEY_MARK), key))


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
        if key is None or not rows.get(key):
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


def _key_in(name: str, keys: Sequence[str]) -> str | None:
    """Return the key of a folder; None where only its rows have it. Spark escapes texts in folder names."""
    if name.startswith(KEY_MARK):
        return unquote(name.removeprefix(KEY_MARK))
    if name.startswith(DIGEST_MARK):
        long = (key for key in keys if len(key.encode()) > LONG_KEY_BYTES)
        digests = {hashlib.sha256(key.encode()).hexdigest(): key for key in long}
        return digests.get(name.removeprefix(DIGEST_MARK))
    return None if int(name) == OTHER_KEYS else keys[int(name)]


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
    staged = file_reader(spark).schema(f"{KEY_COLUMN} string").parquet(folder)
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
