"""One Iceberg table of ours: how it is laid out, what it was told, and who has published into it.

A table is partitioned by its dataset's dimensions as they are, one identity field each, so
a partition key names whole files and a partition can be cleared by a filter. Used by what
stages, by the step that publishes, and by what reads. Nothing is committed here: a new
table and new columns come with the rows that need them, in the commit that publishes those.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql.types import StructType

from tidegate.domain.partition_key import SEPARATOR
from tidegate.domain.value import Value
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.iceberg.catalog import (
    IcebergCatalog,
    IcebergFailure,
    StaleTable,
    TableName,
    each,
    java_failures,
    sql_name,
)
from tidegate.spark_jobs.iceberg.log import PROPERTY, Publish, PublishLog, decode_log

FORMAT_VERSION = "2"
SUMMARY_KEYS = "tidegate.keys"
EVIDENCE_DAYS = 7
"""How long a snapshot stays that an older run may ask what was written. One that is finished later, after an
expiry, is stopped rather than guessed."""
DAY_MILLISECONDS = 24 * 3600 * 1000
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


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteTarget:
    """The table that rows are staged for.

    Attributes:
        table: Iceberg's table; where there is none yet, a draft that nobody else sees.
        schema: its columns as they will be once the rows are published.
        new_columns: the ones of them that it has not, or not as wide; all of a draft's.
    """

    table: Any
    schema: Any
    new_columns: tuple[str, ...]


def write_target(
    catalog: IcebergCatalog, name: TableName, columns: StructType, dimensions: Sequence[str]
) -> WriteTarget:
    """The table for rows with these columns. Nothing is created or changed.

    Raises:
        OutputError: the columns or the partitions of the table do not go with those of the output.
    """
    # Whatever a program promises of its columns today, a later one may leave them out.
    types: Any = catalog.java.org.apache.spark.sql.types.DataType
    schema = catalog.api.spark.SparkSchemaUtil.convert(types.fromJson(columns.json()).asNullable())
    table = catalog.table(name)
    if table is None:
        draft = draft_table(catalog, name, schema, dimensions).table()
        return WriteTarget(table=draft, schema=draft.schema(), new_columns=tuple(columns.fieldNames()))
    check_partitions(table, name, dimensions)
    try:
        with java_failures(f"add columns to {sql_name(name)}"):
            wide = with_columns(table.updateSchema(), schema).apply()
            stands = table.schema()
            new = () if wide.sameSchema(stands) else tuple(_new_columns(stands, wide))
    except (IcebergFailure, StaleTable) as error:
        raise OutputError(
            f"the columns of the output do not go with those of {sql_name(name)}: {error}",
            "cast the columns to the types that the table has",
        ) from error
    return WriteTarget(table=table, schema=wide, new_columns=new)


def draft_table(catalog: IcebergCatalog, name: TableName, schema: Any, dimensions: Sequence[str]) -> Any:
    """The transaction that would create a table of ours."""
    builder = catalog.api.PartitionSpec.builderFor(schema)
    for dimension in dimensions:
        builder = builder.identity(dimension)
    return catalog.draft(name, schema, builder.build(), {"format-version": FORMAT_VERSION})


def with_columns(change: Any, schema: Any) -> Any:
    """A change of a table's columns, to be one that adds what it lacks. Names are matched as Spark does."""
    return change.caseSensitive(False).unionByNameWith(schema)


def column_names(catalog: IcebergCatalog, schema: Any) -> tuple[str, ...]:
    """The columns of Iceberg's schema, in order."""
    fields: list[dict[str, Any]] = json.loads(catalog.api.SchemaParser.toJson(schema))["fields"]
    return tuple(field["name"] for field in fields)


def check_partitions(table: Any, name: TableName, dimensions: Sequence[str]) -> None:
    """Raises OutputError unless the table is cut as its dataset is."""
    fields = [(field.name(), field.transform().toString()) for field in each(table.spec().fields())]
    if fields != [(dimension, "identity") for dimension in dimensions]:
        cut = ", ".join(f"{transform}({column})" for column, transform in fields) or "nothing"
        raise OutputError(
            f"{sql_name(name)} is partitioned by {cut}, its dataset by {', '.join(dimensions) or 'nothing'}",
            "give the dataset the partitions of the table, or another name",
        )


def added_files(table: Any, snapshot: Any) -> Iterator[Any]:
    """The data files that a snapshot has added, as Iceberg's own objects."""
    if snapshot is not None:
        yield from each(snapshot.addedDataFiles(table.io()))


def data_file(catalog: IcebergCatalog, file: Any, dimensions: Sequence[str]) -> DataFile:
    """What is to be known of a data file."""
    partition = file.partition()
    values = [partition.get(number, catalog.text) for number in range(len(dimensions))]
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
        part = getattr(expressions, "in")(dimensions[-1], catalog.java_list(last))
        for dimension, value in zip(dimensions, first, strict=False):
            part = getattr(expressions, "and")(expressions.equal(dimension, value), part)
        found = getattr(expressions, "or")(found, part)
    return found


def all_but(catalog: IcebergCatalog, dimensions: Sequence[str], kept: Iterable[str]) -> Any:
    """Iceberg's expression for all rows but those of some partitions, given by their keys."""
    split = [key.split(SEPARATOR) if len(dimensions) > 1 else [key] for key in kept]
    expressions = catalog.api.expressions.Expressions
    return (
        getattr(expressions, "not")(partition_filter(catalog, dimensions, split))
        if split
        else expressions.alwaysTrue()
    )


def same_numbers(columns: Any, schema: Any) -> bool:
    """Whether a schema has these columns, and all that is in them, under the same numbers."""
    numbers: dict[int, str] = dict(columns.idToName())
    return all(schema.findColumnName(number) == name for number, name in numbers.items())


def keys_of(table: Any, publish: Publish) -> tuple[str, ...] | None:
    """The partitions that a publish has written; None when that was forgotten with its snapshot."""
    if publish.keys is not None:
        return publish.keys
    found = table.snapshot(publish.snapshot)
    return None if found is None else tuple(json.loads(found.summary().get(SUMMARY_KEYS)))


def keep_snapshots(transaction: Any, publishes: Iterable[Publish]) -> None:
    """Lets no expiry take the snapshots of publishes whose partitions are told by them alone.

    Each gets a tag, which every expiry respects for `EVIDENCE_DAYS`, whoever calls it.
    """
    table = transaction.table()
    for one in publishes:
        tag = f"tidegate-{one.snapshot}"
        if table.snapshot(one.snapshot) is not None and table.refs().get(tag) is None:
            refs = transaction.manageSnapshots().createTag(tag, one.snapshot)
            refs.setMaxRefAgeMs(tag, EVIDENCE_DAYS * DAY_MILLISECONDS).commit()


def _new_columns(stands: Any, wide: Any) -> Iterator[str]:
    for field in each(wide.columns()):
        known = stands.findField(field.fieldId())
        if known is None or not known.equals(field):
            yield field.name()
