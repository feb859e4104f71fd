"""Tables in Parquet that the programs write: stage, the steps that publish it, and read.

    <root>/_staging/<commit>/<token>/…         what a run has written and nobody sees
    <root>/data/day=2013-12-22/v=<commit>/…    published folders, old ones too
    <root>/_versions/<number>.json             which folder each partition has: the pointer

A publish replaces the partitions that the run was to write, all of them: one for which
there are no rows becomes empty. The partition columns stand in the files, as strings, so
a folder can be read by itself. Staging is the only part that needs Spark's writer.
"""

import json
from collections.abc import Callable
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructType

from compiler.partition_key import SEPARATOR
from compiler.value import Value
from spark_jobs.commit.step import CommitStep
from spark_jobs.commit.steps.delete_staging import DeleteStaging
from spark_jobs.commit.steps.publish_folder import FolderMarker, PublishFolder, write_marker
from spark_jobs.commit.steps.publish_version import PublishVersion
from spark_jobs.io.dataset_ref import DatasetRef, Warehouse, commit_folder
from spark_jobs.io.partition_columns import NO_VALUE, refuse_surplus, with_partition_columns
from spark_jobs.io.published import PublishedPartition
from spark_jobs.io.version_log import PartitionEntry, TableVersion, head

DATA_FOLDER = "data"
STAGING_FOLDER = "_staging"
KEY_COLUMN = "__tidegate_key"
KEY_MARK = "k"
"""Stands before a staged key: Spark can name no folder after "", the key of a table without partitions."""


class StagedFolder(Value, kw_only=True):
    """One partition as it was staged. `folder` is absolute."""

    folder: str
    marker: FolderMarker
    rows: int


class StagedTable(Value, kw_only=True):
    """The staged output of one dataset.

    Attributes:
        base: the table's version when it was staged.
        keys: every partition that the run writes, those without rows too.
        folders: the partitions that have rows.
    """

    ref: DatasetRef
    root: str
    commit: str
    token: int
    base: int
    schema: str
    keys: tuple[str, ...]
    folders: dict[str, StagedFolder]

    def folder_steps(self) -> tuple[CommitStep, ...]:
        """Brings the files to their place, where no reader looks yet."""
        return tuple(
            PublishFolder(source=staged.folder, target=f"{self.root}/{self._path(key)}", marker=staged.marker)
            for key, staged in self.folders.items()
        )

    def version_step(self) -> CommitStep:
        """Shows them to readers."""
        return PublishVersion(
            root=self.root,
            commit=self.commit,
            token=self.token,
            base=self.base,
            schema=self.schema,
            partitions={key: self._entry(key) for key in self.keys},
        )

    def cleaning_step(self) -> CommitStep:
        """Removes what is left of staging."""
        return DeleteStaging(folder=f"{self.root}/{STAGING_FOLDER}/{commit_folder(self.commit)}")

    def result(self) -> tuple[PublishedPartition, ...]:
        """What is reported once all this is done."""
        entries = {key: self._entry(key) for key in self.keys}
        return tuple(
            PublishedPartition(
                dataset=self.ref.name, key=key, rows=entry.rows, bytes=entry.bytes, files=entry.files
            )
            for key, entry in entries.items()
        )

    def _path(self, key: str) -> str:
        middle = self.ref.partition_folder(key)
        return "/".join(part for part in (DATA_FOLDER, middle, f"v={commit_folder(self.commit)}") if part)

    def _entry(self, key: str) -> PartitionEntry:
        staged = self.folders.get(key)
        sizes = staged.marker.files if staged else {}
        return PartitionEntry(
            path=self._path(key) if staged else None,
            commit=self.commit,
            token=self.token,
            rows=staged.rows if staged else 0,
            bytes=sum(sizes.values()),
            files=len(sizes),
        )


def stage(
    frame: DataFrame, ref: DatasetRef, keys: tuple[str, ...], warehouse: Warehouse, *, commit: str, token: int
) -> StagedTable:
    """Runs the program's plan and writes its rows where no reader sees them.

    Raises:
        OutputError: the columns do not fit the partitions, or rows lie outside `keys`.
    """
    root, files = ref.root(warehouse), warehouse.files
    base = head(files, root).number
    folder = staging_folder(root, commit, token)
    frame = with_partition_columns(frame, ref, keys)
    frame.withColumn(KEY_COLUMN, _key_of(ref)).write.partitionBy(KEY_COLUMN).parquet(folder)
    rows = _rows_by_key(frame.sparkSession, folder)
    refuse_surplus(ref, keys, rows)
    folders = {
        key: StagedFolder(
            folder=where, marker=write_marker(files, where, commit=commit, token=token), rows=rows[key]
        )
        for key, where in _staged_folders(folder, warehouse).items()
        if rows.get(key)
    }
    return StagedTable(
        ref=ref, root=root, commit=commit, token=token, base=base, schema=frame.schema.json(),
        keys=keys, folders=folders,
    )  # fmt: skip


def staging_folder(root: str, commit: str, token: int) -> str:
    """Where one attempt of a commit stages. Attempts have tokens of their own, so they never mix."""
    return f"{root}/{STAGING_FOLDER}/{commit_folder(commit)}/{token}"


def read_table(
    spark: SparkSession,
    ref: DatasetRef,
    version: TableVersion,
    warehouse: Warehouse,
    takes: Callable[[str], bool],
) -> DataFrame:
    """The rows of the partitions whose key is taken, as of one version of the table."""
    root = ref.root(warehouse)
    schema = StructType.fromJson(json.loads(version.schema))
    paths = [
        f"{root}/{entry.path}"
        for key, entry in sorted(version.partitions.items())
        if entry.path is not None and takes(key)
    ]
    if not paths:
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(*paths)


def _key_of(ref: DatasetRef) -> Column:
    values = (sf.coalesce(sf.col(name), sf.lit(NO_VALUE)) for name in ref.dimensions())
    return sf.concat(sf.lit(KEY_MARK), sf.concat_ws(SEPARATOR, *values))


def _staged_folders(folder: str, warehouse: Warehouse) -> dict[str, str]:
    """The staged folder of each key. Spark escapes the key in the folder's name."""
    prefix = f"{KEY_COLUMN}={KEY_MARK}"
    return {
        unquote(entry.name.removeprefix(prefix)): f"{folder}/{entry.name}"
        for entry in warehouse.files.list(folder)
        if entry.is_folder and entry.name.startswith(prefix)
    }


def _rows_by_key(spark: SparkSession, folder: str) -> dict[str, int]:
    """Number of staged rows of each key, read back from the files that will be published."""
    schema = StructType().add(KEY_COLUMN, StringType())
    staged = spark.read.schema(schema).parquet(folder)
    counted = staged.groupBy(KEY_COLUMN).count().collect()
    return {row[KEY_COLUMN].removeprefix(KEY_MARK): row["count"] for row in counted}
