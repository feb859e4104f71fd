"""Writes rows into one staging folder per partition, where no reader sees them.

    <folder>/__tidegate_key=3/part-….parquet      with a marker beside it, written last

Spark's writer sorts the rows by folder; when there are few partitions their folders are numbered, since
numbers sort faster than text. Rows of a single partition are written without that, and the files' own bounds
of the partition columns prove that it is the only one. The partition columns stay in the files, as strings,
so that a folder can be read by itself wherever it is moved.
Used by a run for its output, and by a merge for the survivors.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as sf

from tidegate.domain.partition_key import SEPARATOR
from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.step import CommitStep
from tidegate.spark_jobs.datasets.file_reader import file_reader
from tidegate.spark_jobs.datasets.partition_columns import NO_VALUE, by_partition, in_all_tasks, text_literal
from tidegate.spark_jobs.files.filesystem import FileSystem, at_once
from tidegate.spark_jobs.files.scheme import is_local, scheme_of
from tidegate.spark_jobs.java.elements import Elements, Method
from tidegate.spark_jobs.java.jvm import java_classes
from tidegate.spark_jobs.java.permissions import permissions_by_java
from tidegate.spark_jobs.parquet.folders.copy_folder import CopyFolder, digests_of
from tidegate.spark_jobs.parquet.folders.publish_folder import (
    FolderMarker,
    PublishFolder,
    data_files,
    write_marker,
)
from tidegate.spark_jobs.parquet.footer import Footer, read_footer
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
COLUMNS_READ_HERE = 100
"""Up to so many columns, Python reads the footer of a file faster than it is asked for in the JVM."""
OTHER_KEYS = 0
"""The number of all keys outside the run's partitions, whose numbers begin with 1."""
ONLY_KEY = "1"
"""The name of the folder of rows that are written as they are."""
COMMITTER = "mapreduce.fileoutputcommitter.algorithm.version"
PARQUET = "org.apache.parquet.hadoop"


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
    """Write all rows into the folder, which nothing refers to before `seal` has written its markers.

    Args:
        keys: the expected keys; rows of other keys are written too.

    Returns:
        The number of rows, by key that has any.
    """
    read_here = not scheme_of(folder) and len(frame.columns) <= COLUMNS_READ_HERE
    one = not dimensions or (read_here and len(keys) == 1)
    with permissions_by_java(frame.sparkSession, len(keys) if is_local(folder) else 0):
        if one:
            _writer(frame).parquet(f"{folder}/{KEY_COLUMN}={ONLY_KEY}")
        else:
            marked = frame.withColumn(KEY_COLUMN, _marked(frame.sparkSession, dimensions, keys))
            writer = _writer(by_partition(marked, [KEY_COLUMN], keys)).partitionBy(KEY_COLUMN)
            with in_all_tasks(frame.sparkSession, keys):
                writer.parquet(folder)
    footers = _footers(files, folder) if read_here else None
    if footers is None:
        rows = rows_by_folder(frame.sparkSession, folder)
    else:
        rows = {name: sum(footer.rows for footer in found.values()) for name, found in footers.items()}
    if one and dimensions and footers is not None:
        _drop_empty(files, f"{folder}/{KEY_COLUMN}={ONLY_KEY}", footers.get(ONLY_KEY, {}))
    if one and dimensions and not _is_proven(footers, dimensions, keys[0]):
        known: dict[str, str | None] = {ONLY_KEY: None}
    else:
        known = {name: _key_in(name, keys) for name in rows}
    counts = {key: rows[name] for name, key in known.items() if key is not None and rows[name]}
    others = [f"{folder}/{KEY_COLUMN}={name}" for name, key in known.items() if key is None and rows[name]]
    if others:
        strays = file_reader(frame.sparkSession).parquet(*others)
        found = strays.groupBy(sf.expr(_key_of(dimensions)).alias(KEY_COLUMN)).count().collect()
        counts |= {row[KEY_COLUMN]: row["count"] for row in found}
    return counts


def _marked(spark: SparkSession, dimensions: Sequence[str], keys: Sequence[str]) -> Column:
    """Return what names the folder of a row.

    Each part of a `Column` is a call into the JVM. A text of SQL with all keys is one, but to parse it, and
    to go through its parts in each rule of the optimizer, costs Spark as much as a small write.
    """
    key = _key_of(dimensions)
    if len(keys) <= NUMBERED_KEYS and all(keys):
        # As Java's object, the key is passed as it is; a list of Python's would be copied by a call for each.
        value: Any = sf.expr(key)
        return sf.array_position(sf.lit(Elements(spark).array_of(keys)), value._jc)
    digest = f"concat('{DIGEST_MARK}', sha2({key}, 256))"
    return sf.expr(
        f"CASE WHEN octet_length({key}) > {LONG_KEY_BYTES} THEN {digest} ELSE concat('{KEY_MARK}', {key}) END"
    )


def seal(
    files: FileSystem, folder: str, keys: Sequence[str], rows: Mapping[str, int], *, commit: str, token: int
) -> dict[str, StagedFolder]:
    """Mark the folders that `write_by_key` has written as those of a commit, durably; one per key.

    Args:
        keys: the keys given to `write_by_key`.
        rows: its result, which must not have other keys.
    """
    moves = files.moves_folders_whole(folder)
    named = ((_key_in(name, keys), name) for name in _folders(files, folder))
    found = {key: name for key, name in named if key is not None and rows.get(key)}

    def sealed(key: str) -> StagedFolder:
        where = f"{folder}/{KEY_COLUMN}={found[key]}"
        marker = write_marker(files, where, commit=commit, token=token)
        digests = None if moves else digests_of(files, where, marker)
        return StagedFolder(folder=where, marker=marker, rows=rows[key], digests=digests)

    return dict(zip(found, at_once(sealed, found), strict=True))


def _writer(frame: DataFrame) -> DataFrameWriter:
    """Return a writer that never mixes files of a failed task with those of its retry.

    Hadoop's second algorithm does: it moves a task's files into the folder one by one when the task ends.
    """
    return frame.write.option(COMMITTER, 1)


def _key_of(dimensions: Sequence[str]) -> str:
    """Return the key of a row in SQL."""
    values = [f"coalesce(`{name}`, {text_literal(NO_VALUE)})" for name in dimensions]
    return values[0] if len(values) == 1 else f"concat_ws({text_literal(SEPARATOR)}, {', '.join(values)})"


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
    return None if int(name) == OTHER_KEYS else keys[int(name) - 1]


def _footers(files: FileSystem, folder: str) -> dict[str, dict[str, Footer]] | None:
    """Return the footers of all data files by folder and file; None if one of them cannot be read here."""
    found: dict[str, dict[str, Footer]] = {}
    for name in _folders(files, folder):
        place, of_folder = f"{folder}/{KEY_COLUMN}={name}", dict[str, Footer]()
        for file in data_files(files, place):
            footer = read_footer(Path(place) / file)
            if footer is None:
                return None
            of_folder[file] = footer
        found[name] = of_folder
    return found


def _drop_empty(files: FileSystem, folder: str, footers: Mapping[str, Footer]) -> None:
    """Remove the file that Spark writes for its first task even if only others have rows."""
    if any(footer.rows for footer in footers.values()):
        for name, footer in footers.items():
            if not footer.rows:
                files.delete(f"{folder}/{name}")


def _is_proven(footers: dict[str, dict[str, Footer]] | None, dimensions: Sequence[str], key: str) -> bool:
    """Return whether the footers say that all rows are of one key."""
    values = key.split(SEPARATOR) if len(dimensions) > 1 else [key]
    wanted = list(zip(dimensions, values, strict=True))
    return footers is not None and all(
        footer.has_only(wanted) for footer in footers.get(ONLY_KEY, {}).values()
    )


def rows_by_folder(spark: SparkSession, folder: str) -> Counter[str]:
    """Return the number of rows in each folder, counted in the files that will be published.

    PySpark has no API to read footers. All are read by a few calls, however many files there are.
    """
    java, context = java_classes(spark), cast(Any, spark.sparkContext)
    hadoop, parquet, conf = (
        java.org.apache.hadoop.fs,
        java.org.apache.parquet.hadoop,
        context._jsc.hadoopConfiguration(),
    )
    path = hadoop.Path(folder)
    system = path.getFileSystem(conf)
    folders = hadoop.FileUtil.stat2Paths(system.listStatus(path, hadoop.GlobFilter(f"{KEY_COLUMN}=*")))
    files = system.listStatus(folders, parquet.util.HiddenFileFilter.INSTANCE)
    elements = Elements(spark)
    footers = parquet.ParquetFileReader.readAllFootersInParallel(conf, elements.listed(files), False)
    footer, block = f"{PARQUET}.Footer", f"{PARQUET}.metadata.BlockMetaData"
    blocks = elements.each(
        footers,
        Method(footer, "getParquetMetadata"),
        Method(f"{PARQUET}.metadata.ParquetMetadata", "getBlocks"),
    )
    places = elements.texts(footers, Method(footer, "getFile"))
    sizes = elements.texts(blocks, Method("java.util.List", "size"))
    counts = elements.texts(elements.joined(blocks), Method(block, "getRowCount"))
    rows, of_all = Counter[str](), iter(counts)
    for place, size in zip(places, sizes, strict=True):
        name = place.rpartition("/")[0].rpartition(f"/{KEY_COLUMN}=")[2]
        rows[name] += sum(map(int, islice(of_all, int(size))))
    return rows
