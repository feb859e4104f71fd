"""Looks at tables by plain readers, and commits of other writers: without a query, in a tenth of its time."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import SparkSession

from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.iceberg.catalog.catalog import TableName, catalog_of

PlainRow = dict[str, Any]
END_OF_TIME = 4_102_444_800_000
"""In the year 2100, in milliseconds."""


def rows_of(spark: SparkSession, ref: DatasetRef, warehouse: Warehouse) -> list[PlainRow]:
    """The rows of the newest state of a dataset, none without a table."""
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
    """A scan of the newest state of an Iceberg table; None without a table."""
    table = catalog_of(spark).table(name)
    return None if table is None else plain_table(table).scan()


def plain_table(table: Any) -> Any:
    """The state that Iceberg has loaded of a table, as pyiceberg's table."""
    from pyiceberg.table import StaticTable

    return StaticTable.from_metadata(table.operations().current().metadataFileLocation())


def parquet_rows(ref: DatasetRef, warehouse: Warehouse) -> list[PlainRow]:
    """The rows of a published Parquet table."""
    import tidegate.read

    try:
        return tidegate.read.pyarrow(ref.root(warehouse)).to_table().to_pylist()
    except FileNotFoundError:
        return []


def append(api: Any, table: Any, rows: Iterable[Mapping[str, Any]]) -> None:
    """One commit of another writer, by Iceberg's classes; a file for each day if the table is cut by days.

    Args:
        api: Iceberg's package.
        table: Iceberg's table.
    """
    record = api.data.GenericRecord.create(table.schema())
    cut = table.spec().isPartitioned()
    files: dict[str, list[Any]] = {}
    for row in rows:
        filled = record.copy()
        for name, value in row.items():
            filled.setField(name, value)
        files.setdefault(row["day"] if cut else "", []).append(filled)
    change, writers = table.newAppend(), api.data.GenericAppenderFactory(table.schema(), table.spec())
    for day, some in files.items():
        place = table.locationProvider().newDataLocation(f"{uuid.uuid4()}.parquet")
        file = table.encryption().encrypt(table.io().newOutputFile(place))
        partition = None
        if cut:
            partition = api.data.GenericRecord.create(table.spec().partitionType()).copy("day", day)
        writer = writers.newDataWriter(file, api.FileFormat.PARQUET, partition)
        for filled in some:
            writer.write(filled)
        writer.close()
        change.appendFile(writer.toDataFile())
    change.commit()


def leave_one_snapshot(table: Any) -> None:
    """Expire all snapshots but the newest, with their files."""
    table.expireSnapshots().expireOlderThan(END_OF_TIME).retainLast(1).commit()
