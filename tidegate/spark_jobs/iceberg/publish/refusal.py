"""Makes a table refuse an abandoned commit, so that a driver which wakes up after that adds no rows.

The id is written into the log of publishes by compare and swap. A publish that has read the table before
loses its swap, reads the log again and finds the id; one that reads later finds it at once. A table that does
not exist yet is created without rows, with only its partition columns: it reads like one that does not exist.
"""

from collections.abc import Sequence
from typing import Any

from pyspark.sql.types import StringType, StructField, StructType

from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, TableName, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import StaleTable, java_failures
from tidegate.spark_jobs.iceberg.table.log import PROPERTY, encode_log
from tidegate.spark_jobs.iceberg.table.table import draft_table, log_of

TRIES = 100
"""How many times in a row another commit may change the table before the refusal fails."""


def refuse_commit(
    catalog: IcebergCatalog, name: TableName, commit: str, dimensions: Sequence[str], *, create: bool
) -> None:
    """Write a commit id into the log of a table as abandoned, unless the log lists it as published.

    Args:
        create: create the table if it does not exist.

    Raises:
        OSError: the catalog failed, or others changed the table `TRIES` times in a row.
    """
    for _ in range(TRIES):
        table = catalog.table(name)
        if table is None and not create:
            # The commit was staged for a table that existed, so it is never published into a new one.
            return
        try:
            if _refused(catalog, name, table, commit, dimensions):
                return
        except StaleTable:
            continue
    raise OSError(f"{sql_name(name)}: other runs committed first {TRIES} times in a row; try again")


def _refused(
    catalog: IcebergCatalog, name: TableName, table: Any | None, commit: str, dimensions: Sequence[str]
) -> bool:
    with java_failures(f"refuse a commit in {sql_name(name)}"):
        if table is None:
            transaction = draft_table(catalog, name, _partition_columns(catalog, dimensions), dimensions)
        else:
            transaction = table.newTransaction()
        read = None if table is None else transaction.startMetadata()
        log = log_of(transaction.table())
        if log.find(commit) is None and commit not in log.abandoned:
            properties = transaction.updateProperties()
            properties.set(PROPERTY, encode_log(log.with_abandoned(commit))).commit()
            catalog.swap(name, transaction.underlyingOps(), read, transaction.currentMetadata())
        return True


def _partition_columns(catalog: IcebergCatalog, dimensions: Sequence[str]) -> Any:
    columns = StructType([StructField(dimension, StringType()) for dimension in dimensions])
    types: Any = catalog.java.org.apache.spark.sql.types.DataType
    return catalog.api.spark.SparkSchemaUtil.convert(types.fromJson(columns.json()))
