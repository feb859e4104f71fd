"""Merging by keys: which data files hold rows that staged rows replace, and what is left of them.

Copy on write: a data file with a row whose keys come again is replaced by its other rows,
the survivors, which are written into a staging table of their own. All is computed for one
state of the table, and stands only if the commit is made on that very state.
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
    """What a merge does to data files, as Iceberg's own objects.

    Attributes:
        replaced: files with at least one row that staged rows replace.
        survivors: files with their other rows.
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
    """Finds the files to replace, and writes what is to stay of them.

    Args:
        table: the state that the merge is made for; its columns by their present names.
        staging: the table with the staged rows; the survivors' table is named after it, and is
            dropped with it.
        columns: rows with equal values in all of these are the same row; no value equals no value.
        partitions: the partitions that are merged into, by their values in order.
    """
    snapshot = table.currentSnapshot()
    if snapshot is None or not partitions:
        return MergedFiles()
    spark = catalog.spark
    condition = partition_filter(catalog, dimensions, partitions)
    # Read as it stands, for a snapshot is read with the columns of its own time, and a column that was
    # renamed since would be lost. Should it stand differently by now, the swap is refused.
    existing = spark.read.table(sql_name(name))
    if dimensions:
        existing = existing.where(in_partitions(dimensions, partitions))
    existing = existing.select("*", sf.col("_file").alias(FILE_COLUMN))
    incoming = (
        spark.table(sql_name((STAGING_NAMESPACE, staging))).select(*(f"`{c}`" for c in columns)).distinct()
    )
    # A key that is a new column has no value in the rows that stand.
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
        raise StaleTable(f"merge into {sql_name(name)}: it stands differently by now")
    left = existing.where(sf.col(FILE_COLUMN).isin(sorted(hit))).join(incoming, same, "left_anti")
    # A name that nobody else has: another process may finish the same sequence at the same time.
    survivors = f"{staging}_{uuid.uuid4().hex}"
    written = write_staging(catalog, survivors, table, left.drop(FILE_COLUMN))
    return MergedFiles(
        replaced=tuple(replaced.values()),
        survivors=tuple(added_files(written, written.currentSnapshot())),
    )
