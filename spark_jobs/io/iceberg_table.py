"""One Iceberg table of ours: how it is laid out, what it was told, and who has published into it.

A table is partitioned by its dataset's dimensions as they are, one identity field each, so
a partition key names whole files and a partition can be cleared by a filter. Used by what
stages, by the step that publishes, and by what reads. Nothing is committed here but the
creation of a table and columns that are added to it.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pyspark.sql.types import StructType

from compiler.value import Value
from spark_jobs.errors import OutputError
from spark_jobs.io.iceberg_catalog import (
    IcebergCatalog,
    IcebergFailure,
    StaleTable,
    TableName,
    java_failures,
    spoken,
)
from spark_jobs.io.iceberg_log import PROPERTY, PublishLog, decode_log

FORMAT_VERSION = "2"
SUMMARY_KEYS = "tidegate.keys"
NO_PARTITION_VALUE = "(null)"


class DataFile(Value, kw_only=True):
    """A data file as it is reported: the partition's values in order, and its size in bytes."""

    values: tuple[str, ...]
    location: str
    rows: int
    bytes: int


def log_of(table: Any) -> PublishLog:
    """What a table remembers of our publishes."""
    return decode_log(table.properties().get(PROPERTY))


def ensure_table(
    catalog: IcebergCatalog, name: TableName, columns: StructType, dimensions: Sequence[str]
) -> Any:
    """The table, created when it is not there; columns that it lacks are added, with no values so far.

    Raises:
        OutputError: the columns or the partitions of the table do not go with those of the output.
    """
    with catalog.exclusive(name):
        schema = _schema(catalog, columns)
        table = catalog.table(name)
        if table is None:
            builder = catalog.api.PartitionSpec.builderFor(schema)
            for dimension in dimensions:
                builder = builder.identity(dimension)
            return catalog.create(name, schema, builder.build(), {"format-version": FORMAT_VERSION})
        check_partitions(table, name, dimensions)
        _add_columns(table, name, schema)
        table.refresh()
        return table


def check_partitions(table: Any, name: TableName, dimensions: Sequence[str]) -> None:
    """Raises OutputError unless the table is cut as its dataset is."""
    fields = [(field.name(), field.transform().toString()) for field in table.spec().fields()]
    if fields != [(dimension, "identity") for dimension in dimensions]:
        cut = ", ".join(f"{transform}({column})" for column, transform in fields) or "nothing"
        raise OutputError(
            f"{spoken(name)} is partitioned by {cut}, its dataset by {', '.join(dimensions) or 'nothing'}",
            "give the dataset the partitions of the table, or another name",
        )


def added_files(table: Any, snapshot: Any) -> Iterator[Any]:
    """The data files that a snapshot has added, as Iceberg's own objects."""
    if snapshot is not None:
        yield from snapshot.addedDataFiles(table.io())


def described(catalog: IcebergCatalog, file: Any, dimensions: Sequence[str]) -> DataFile:
    """What is to be known of a data file."""
    text = catalog.java.java.lang.Class.forName("java.lang.String")
    partition = file.partition()
    values = [partition.get(number, text) for number in range(len(dimensions))]
    return DataFile(
        values=tuple(NO_PARTITION_VALUE if value is None else value for value in values),
        location=file.location(),
        rows=file.recordCount(),
        bytes=file.fileSizeInBytes(),
    )


def partition_filter(
    catalog: IcebergCatalog, dimensions: Sequence[str], wanted: Iterable[Sequence[str]]
) -> Any:
    """Iceberg's expression for some partitions, given by their values in order."""
    expressions = catalog.api.expressions.Expressions
    if not dimensions:
        return expressions.alwaysTrue()
    groups: dict[tuple[str, ...], list[str]] = {}
    for values in wanted:
        groups.setdefault(tuple(values[:-1]), []).append(values[-1])
    found = expressions.alwaysFalse()
    for first, last in groups.items():
        listed = catalog.java.java.util.ArrayList()
        for value in last:
            listed.add(value)
        part = getattr(expressions, "in")(dimensions[-1], listed)
        for dimension, value in zip(dimensions, first, strict=False):
            part = getattr(expressions, "and")(expressions.equal(dimension, value), part)
        found = getattr(expressions, "or")(found, part)
    return found


def keys_of(table: Any, snapshot: int) -> tuple[str, ...] | None:
    """The partitions that one of our snapshots has written; None when the snapshot is gone."""
    found = table.snapshot(snapshot)
    return None if found is None else tuple(json.loads(found.summary().get(SUMMARY_KEYS)))


def _schema(catalog: IcebergCatalog, columns: StructType) -> Any:
    # Whatever a program promises of its columns today, a later one may leave them out.
    types: Any = catalog.java.org.apache.spark.sql.types.DataType
    return catalog.api.spark.SparkSchemaUtil.convert(types.fromJson(columns.json()).asNullable())


def _add_columns(table: Any, name: TableName, schema: Any) -> None:
    try:
        with java_failures(f"add columns to {spoken(name)}"):
            change = table.updateSchema().unionByNameWith(schema)
            added = change.apply()
    except (IcebergFailure, StaleTable) as error:
        raise OutputError(
            f"the columns of the output do not go with those of {spoken(name)}: {error}",
            "cast the columns to the types that the table has",
        ) from error
    with java_failures(f"add columns to {spoken(name)}"):
        if not added.sameSchema(table.schema()):
            change.commit()
