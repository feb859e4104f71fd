"""What plain readers find in published tables: pyiceberg and pyarrow need a tenth of the time of a query."""

from typing import Any

from pyspark.sql import SparkSession

from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.iceberg.catalog.catalog import TableName, catalog_of

PlainRow = dict[str, Any]


def rows_of(spark: SparkSession, ref: DatasetRef, warehouse: Warehouse) -> list[PlainRow]:
    """The rows of the newest state of a dataset, none where there is no table."""
    return iceberg_rows(spark, ref.place) if ref.format == "iceberg" else parquet_rows(ref, warehouse)


def iceberg_rows(spark: SparkSession, name: TableName) -> list[PlainRow]:
    """The rows of an Iceberg table of any catalog: the JVM only tells where its metadata is."""
    scan = iceberg_scan(spark, name)
    return [] if scan is None else scan.to_arrow().to_pylist()


def iceberg_files(spark: SparkSession, name: TableName) -> list[str]:
    """The data files of the newest state of an Iceberg table."""
    scan = iceberg_scan(spark, name)
    return [] if scan is None else [task.file.file_path for task in scan.plan_files()]


def iceberg_scan(spark: SparkSession, name: TableName) -> Any | None:
    """A scan of the newest state of an Iceberg table; None where there is no table."""
    from pyiceberg.table import StaticTable

    table = catalog_of(spark).table(name)
    if table is None:
        return None
    return StaticTable.from_metadata(table.operations().current().metadataFileLocation()).scan()


def parquet_rows(ref: DatasetRef, warehouse: Warehouse) -> list[PlainRow]:
    """The rows of a published Parquet table."""
    import tidegate.read

    try:
        return tidegate.read.pyarrow(ref.root(warehouse)).to_table().to_pylist()
    except FileNotFoundError:
        return []
