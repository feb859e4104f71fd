"""The folders of published data files in a dataset's table, which Iceberg never sweeps.

A run stages its files in a folder whose name begins with an underscore, and publishes them where they are. So
Iceberg's own search for orphans passes all of them over. Here these folders are searched too, except those
of names under which something is staged: it may still be published.
"""

import re
from collections.abc import Collection
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.iceberg.catalog.catalog import catalog_of
from tidegate.spark_jobs.iceberg.catalog.half_created import STAGING_TABLE
from tidegate.spark_jobs.iceberg.catalog.table_files import HADOOP_IO
from tidegate.spark_jobs.iceberg.orphans import staged_items
from tidegate.spark_jobs.iceberg.staging.names import data_root
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable

_FOLDER = re.compile(rf"_{STAGING_TABLE.pattern}")


def unpublished(table: CatalogTable, ref: DatasetRef) -> frozenset[str]:
    """Return the names of the staging folders of a dataset that some run may still publish."""
    orphans = staged_items([ref], catalog_of(table.spark))
    return frozenset(f"_{one.table}" for one in orphans)


def published_files(table: CatalogTable, java: Any, waiting: Collection[str]) -> DataFrame | None:
    """Return the files in the staging folders of a table, with their times, as Iceberg wants a list of files.

    Args:
        waiting: folders to leave out, from `unpublished`, which must be read first.

    Returns:
        None where there are none, or where the store of the table can only be listed by Iceberg.
    """
    root = data_root(java)
    if java.io().getClass().getName() != HADOOP_IO:
        return None
    names = catalog_of(table.spark).files.folders_in(root)
    folders = [f"{root}/{name}" for name in names if _FOLDER.fullmatch(name) and name not in waiting]
    if not folders:
        return None
    listed = table.spark.read.format("binaryFile").option("recursiveFileLookup", True).load(folders)
    return listed.select(sf.col("path").alias("file_path"), sf.col("modificationTime").alias("last_modified"))
