"""Merges by keys: finds the data files with rows that staged rows replace, and keeps their other rows.

The merge is copy-on-write: a data file with replaced rows is itself replaced by its other rows,
the survivors, which are written into a staging table of their own. The result is computed for one
state of the table and is valid only if the commit is made on that state.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import functions as sf

from tidegate.spark_jobs.datasets.partition_columns import in_partitions
from tidegate.spark_jobs.iceberg.catalog import (
    STAGING_NAMESPACE,
    IcebergCatalog,
    StaleTable,
    TableName,
    sql_name,
)
from tidegate.spark_jobs.iceberg.staging import write_staging
from tidegate.spark_jobs.iceberg.table import added_files, partition_filter

FILE_COLUMN = "__tidegate_file"


@dataclass(frozen=True, kw_only=True, slots=True)
class MergedFiles:
    """The data files that a merge removes and adds, as Iceberg's own objects.

    Attributes:
        replaced: files with at least one row that a staged row replaces.
        survivors: files with the other rows of the replaced files.
    """

    replaced: tuple[Any, ...] = ()
    survivors: tuple[Any, ...] = ()


def merge_files(
    catalog: IcebergCatalog,
    name: TableName,
    table: Any,
    *,
    staging: str,
    columns: Sequence[str],
    dimensions: Sequence[str],
    partitions: Sequence[Sequence[str]],
) -> MergedFiles:
    """Find the files to replace, and write their survivors.

    Args:
        table: the state of the table that the merge is computed for.
        staging: the table with the staged rows; its name is the prefix of the survivors' table, which is
            dropped with it.
        columns: columns that identify a row; missing values are equal to each other.
        partitions: the values of the partition columns, in order, of each partition that is merged into.

    Raises:
        StaleTable: the table has changed since its state was read.
    """
    snapshot = table.currentSnapshot()
    if snapshot is None or not partitions:
        return MergedFiles()
    spark = catalog.spark
    condition = partition_filter(catalog, dimensions, partitions)
    # Read the current table: a read of the snapshot would use the snapshot's column names and lose a column
    # that was renamed since. If the table has changed in the meantime, the swap fails.
    existing = spark.read.table(sql_name(name))
    if dimensions:
        existing = existing.where(in_partitions(dimensions, partitions))
    existing = existing.select("*", sf.col("_file").alias(FILE_COLUMN))
    incoming = (
        spark.table(sql_name((STAGING_NAMESPACE, staging))).select(*(f"`{c}`" for c in columns)).distinct()
    )
    # A key that is a new column is null in the existing rows.
    known = {column.lower() for column in existing.columns}
    own = [existing[f"`{c}`"] if c.lower() in known else sf.lit(None) for c in columns]
    same = reduce(and_, (mine.eqNullSafe(incoming[f"`{c}`"]) for mine, c in zip(own, columns, strict=True)))
    hit = {
        row[FILE_COLUMN]
        for row in existing.join(incoming, same, "left_semi").select(FILE_COLUMN).distinct().collect()
    }
    if not hit:
        return MergedFiles()
    replaced: dict[str, Any] = {}
    tasks = table.newScan().useSnapshot(snapshot.snapshotId()).filter(condition).planFiles()
    try:
        iterator = tasks.iterator()
        while iterator.hasNext():
            file = iterator.next().file()
            if file.location() in hit:
                replaced[file.location()] = file
    finally:
        tasks.close()
    if len(replaced) < len(hit):
        raise StaleTable(f"merge into {sql_name(name)}: the table has changed since it was read")
    left = existing.where(sf.col(FILE_COLUMN).isin(sorted(hit))).join(incoming, same, "left_anti")
    # A unique name: another process may finish the same sequence at the same time.
    survivors = f"{staging}_{uuid.uuid4().hex}"
    written = write_staging(catalog, survivors, table, left.drop(FILE_COLUMN))
    return MergedFiles(
        replaced=tuple(replaced.values()),
        survivors=tuple(added_files(written, written.currentSnapshot())),
    )
