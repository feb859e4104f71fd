"""Merges by keys: finds the data files with rows that staged rows replace, and keeps their other rows.

The merge is copy-on-write: a data file with replaced rows is itself replaced by its other rows,
the survivors, which are staged under a name of their own. The result is computed for one
state of the table and is valid only if the commit is made on that state.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidegate.spark_jobs.datasets.changed_rows import matching, rows_differ
from tidegate.spark_jobs.datasets.partition_columns import among, in_partitions
from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog, TableName, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import StaleTable, java_failures
from tidegate.spark_jobs.iceberg.staging.files import StagedFiles, stage_files
from tidegate.spark_jobs.iceberg.staging.names import partition_folders
from tidegate.spark_jobs.iceberg.table.data_files import CONTENT_FILE
from tidegate.spark_jobs.iceberg.table.table import partition_filter
from tidegate.spark_jobs.java.elements import Method

FILE_COLUMN = "__tidegate_file"
FILE = Method("org.apache.iceberg.ContentScanTask", "file")
LOCATION = Method(CONTENT_FILE, "location")


@dataclass(frozen=True, kw_only=True, slots=True)
class MergedFiles:
    """The data files that a merge removes and adds, as Iceberg's own objects.

    Attributes:
        replaced: a Java list of the files with at least one row that a staged row replaces; None for none.
        survivors: files with the other rows of the replaced files; None for none.
        snapshot: id of the snapshot that was merged with; 0 for none.
        schema: id of its columns.
    """

    replaced: Any | None = None
    survivors: StagedFiles | None = None
    snapshot: int
    schema: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Merge:
    """What is merged, and by which columns.

    Attributes:
        staging: name of the table with the staged rows.
        columns: columns that identify a row; missing values are equal to each other.
        partitions: the values of the partition columns, in order, of each partition that is merged into.
    """

    staging: str
    columns: Sequence[str]
    dimensions: Sequence[str]
    partitions: Sequence[Sequence[str]]


def merged_rows_differ(
    catalog: IcebergCatalog, name: TableName, table: Any, since: int, merge: Merge
) -> bool:
    """Return whether rows with the staged keys differ from what they were in the snapshot `since`.

    Also if that cannot be determined, because the snapshot has expired.

    Args:
        since: snapshot id; 0 for a table without rows.
    """
    current = table.currentSnapshot()
    if current is None:
        return bool(since)
    if since and table.snapshot(since) is None:
        return True
    with java_failures(f"compare rows of {sql_name(name)}"):
        before, now = (
            _rows_at(catalog, name, snapshot, merge) if snapshot else None
            for snapshot in (since, int(current.snapshotId()))
        )
        return rows_differ(before, now, _incoming(catalog, merge))


def merge_files(
    catalog: IcebergCatalog, name: TableName, table: Any, merge: Merge, survivors: str
) -> MergedFiles:
    """Find the files to replace, and write their survivors.

    Args:
        table: the state of the table that the merge is computed for.
        survivors: name under which the survivors are staged, if there are any.

    Raises:
        StaleTable: the table has changed since its state was read.
    """
    snapshot = table.currentSnapshot()
    nothing = MergedFiles(
        snapshot=0 if snapshot is None else int(snapshot.snapshotId()), schema=table.schema().schemaId()
    )
    if snapshot is None or not merge.partitions:
        return nothing
    spark, columns, dimensions = catalog.spark, merge.columns, merge.dimensions
    condition = partition_filter(catalog, dimensions, merge.partitions)
    # Read the current table: a read of the snapshot would use the snapshot's column names and lose a column
    # that was renamed since. If the table has changed in the meantime, the swap fails.
    existing = spark.read.table(sql_name(name))
    if dimensions:
        existing = existing.where(in_partitions(dimensions, merge.partitions))
    existing = existing.withColumn(FILE_COLUMN, sf.col("_file"))
    incoming = _incoming(catalog, merge)
    # A key that is a new column is null in the existing rows.
    same = reduce(and_, matching(existing, incoming, columns))
    hit = {
        row[FILE_COLUMN]
        for row in existing.join(incoming, same, "left_semi").select(FILE_COLUMN).distinct().collect()
    }
    if not hit:
        return nothing
    scan = table.newScan().useSnapshot(snapshot.snapshotId()).caseSensitive(False)
    tasks = scan.filter(condition).planFiles()
    try:
        files = catalog.elements.each(catalog.listed(tasks), FILE)
    finally:
        tasks.close()
    replaced = catalog.elements.chosen(files, LOCATION, hit)
    if replaced.size() < len(hit):
        raise StaleTable(f"merge into {sql_name(name)}: the table has changed since it was read")
    left = existing.where(among(FILE_COLUMN, sorted(hit))).join(incoming, same, "left_anti")
    folders = [partition_folders(dimensions, values) for values in merge.partitions]
    written = stage_files(catalog, survivors, table, left.drop(FILE_COLUMN), len(dimensions), folders=folders)
    return replace(nothing, replaced=replaced, survivors=written)


def _incoming(catalog: IcebergCatalog, merge: Merge) -> DataFrame:
    """Return the staged keys."""
    staged = catalog.spark.table(sql_name((STAGING_NAMESPACE, merge.staging)))
    return staged.select(*(f"`{column}`" for column in merge.columns)).distinct()


def _rows_at(catalog: IcebergCatalog, name: TableName, snapshot: int, merge: Merge) -> DataFrame:
    rows = catalog.spark.read.option("snapshot-id", str(snapshot)).table(sql_name(name))
    return rows.where(in_partitions(merge.dimensions, merge.partitions)) if merge.dimensions else rows
