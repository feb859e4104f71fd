"""An Iceberg table of a dataset: its partitions, columns, files and publishes.

A table is partitioned by the dimensions of its dataset, one identity field each, so
a partition consists of whole files and can be cleared by a filter. Staging,
publishing and reading use this module. It commits nothing: a new
table and new columns are created by the commit that publishes the rows that need them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from pyspark.sql.types import StructType

from tidegate.domain.partition_key import SEPARATOR
from tidegate.spark_jobs.errors import OutputError, TableDamaged
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, TableName, sql_name
from tidegate.spark_jobs.iceberg.catalog.failures import IcebergFailure, StaleTable, java_failures
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.iceberg.table.log import PROPERTY, Publish, PublishLog, decode_log
from tidegate.spark_jobs.iceberg.table.required import with_required

FORMAT_VERSION = "2"
SUMMARY_KEYS = "tidegate.keys"
EVIDENCE_DAYS = 7
"""How long an older run can read from a snapshot which partitions were written. A run that finishes after the
snapshot has expired fails instead of guessing."""
DAY_MILLISECONDS = 24 * 3600 * 1000


def log_of(table: Any, properties: Mapping[str, str] | None = None) -> PublishLog:
    """Return the log of our publishes into a table.

    Args:
        properties: those of the table, if known.

    Raises:
        TableDamaged: its property is not a log.
    """
    text = (table.properties() if properties is None else properties).get(PROPERTY)
    try:
        return decode_log(text)
    except (ValueError, msgspec.MsgspecError) as error:
        raise TableDamaged(
            f"{table.name()}: its property {PROPERTY} is {text!r:.100}, which is not of Tidegate: {error}",
            "set it to its value in an earlier metadata file; if Tidegate has never published into this "
            f"table, remove it: ALTER TABLE … UNSET TBLPROPERTIES ('{PROPERTY}')",
        ) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownTable:
    """A table as it is when a run begins to stage rows for it.

    Attributes:
        table: Iceberg's table; None if it does not exist yet.
        schema: its columns.
        columns: Iceberg's JSON of them; "" without a table.
    """

    table: Any | None = None
    schema: Any | None = None
    columns: str = ""


def known_table(catalog: IcebergCatalog, name: TableName) -> KnownTable:
    """Load a table and its columns."""
    table = catalog.table(name)
    if table is None:
        return KnownTable()
    schema = table.schema()
    return KnownTable(table=table, schema=schema, columns=str(catalog.api.SchemaParser.toJson(schema)))


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteTarget:
    """The table that rows are staged for.

    Attributes:
        table: Iceberg's table; a private draft if the table does not exist yet.
        schema: the columns of the table after the rows are published.
        new_columns: columns that the table does not have, or has with a narrower type; all of a draft.
    """

    table: Any
    schema: Any
    new_columns: tuple[str, ...]


def write_target(
    catalog: IcebergCatalog,
    name: TableName,
    known: KnownTable,
    columns: StructType,
    dimensions: Sequence[str],
) -> WriteTarget:
    """Return the table for rows with these columns, without creating or changing it.

    Raises:
        OutputError: the columns or the partitions of the table do not fit those of the output.
    """
    # A new column is nullable: a later program may omit one that is never null today.
    given, table = with_required(columns.json(), known.columns), known.table
    types: Any = catalog.java.org.apache.spark.sql.types.DataType
    schema = catalog.api.spark.SparkSchemaUtil.convert(types.fromJson(given))
    if table is None:
        draft = draft_table(catalog, name, schema, dimensions).table()
        return WriteTarget(table=draft, schema=draft.schema(), new_columns=tuple(columns.fieldNames()))
    check_partitions(catalog, table, name, dimensions)
    try:
        with java_failures(f"add columns to {sql_name(name)}"):
            wide = with_columns(table.updateSchema(), schema).apply()
            new = () if wide.sameSchema(known.schema) else tuple(_new_columns(known.schema, wide))
    except (IcebergFailure, StaleTable) as error:
        raise OutputError(
            f"the columns of the output do not fit those of {sql_name(name)}: {error}",
            "cast the columns to the types of the table",
        ) from error
    return WriteTarget(table=table, schema=wide, new_columns=new)


def spark_columns(catalog: IcebergCatalog, known: KnownTable) -> StructType:
    """Return the columns of a table that exists as Spark's."""
    return StructType.fromJson(json.loads(catalog.api.spark.SparkSchemaUtil.convert(known.schema).json()))


def nested_columns(known: KnownTable) -> frozenset[str]:
    """Return the names, in lower case, of the columns of a table that are structs, lists or maps."""
    fields = json.loads(known.columns)["fields"] if known.columns else ()
    return frozenset(field["name"].lower() for field in fields if not isinstance(field["type"], str))


def draft_table(catalog: IcebergCatalog, name: TableName, schema: Any, dimensions: Sequence[str]) -> Any:
    """Return a transaction that creates a dataset's table when it is committed."""
    builder = catalog.api.PartitionSpec.builderFor(schema)
    for dimension in dimensions:
        builder = builder.identity(dimension)
    return catalog.draft(name, schema, builder.build(), {"format-version": FORMAT_VERSION})


def with_columns(change: Any, schema: Any) -> Any:
    """Return a column change that also adds the missing columns of a schema; names match in any case."""
    return change.caseSensitive(False).unionByNameWith(schema)


def columns_of(catalog: IcebergCatalog, schema: Any) -> tuple[tuple[str, ...], bool]:
    """Return the column names of a schema, and whether a new table would give them the same field ids."""
    columns: list[dict[str, Any]] = json.loads(catalog.api.SchemaParser.toJson(schema))["fields"]
    plain = all(isinstance(column["type"], str) for column in columns)
    in_order = [column["id"] for column in columns] == list(range(1, len(columns) + 1))
    return tuple(column["name"] for column in columns), plain and in_order


def check_partitions(catalog: IcebergCatalog, table: Any, name: TableName, dimensions: Sequence[str]) -> None:
    """Check that the table has the partitions of its dataset.

    Raises:
        OutputError: it has other partitions.
    """
    spec: list[dict[str, str]] = json.loads(catalog.api.PartitionSpecParser.toJson(table.spec()))["fields"]
    fields = [(field["name"], field["transform"]) for field in spec]
    known = [(field.lower(), transform) for field, transform in fields]
    if known != [(dimension.lower(), "identity") for dimension in dimensions]:
        cut = ", ".join(f"{transform}({column})" for column, transform in fields) or "nothing"
        raise OutputError(
            f"the table {sql_name(name)} is partitioned by {cut}, but its dataset by "
            f"{', '.join(dimensions) or 'nothing'}",
            "give the dataset the partitions of the table, or another name",
        )


def added_files(table: Any, snapshot: Any) -> Iterator[Any]:
    """Yield the data files that a snapshot has added, as Iceberg's own objects."""
    if snapshot is not None:
        yield from each(snapshot.addedDataFiles(table.io()))


def file_under(catalog: IcebergCatalog, spec: Any, file: Any) -> Any:
    """Return a data file as one of another table with the same partitions.

    Iceberg's own copy demands the number that the partition spec has in the file's table; each table
    counts its specs for itself.
    """
    measured = catalog.metrics(
        None,
        file.columnSizes(),
        file.valueCounts(),
        file.nullValueCounts(),
        file.nanValueCounts(),
        file.lowerBounds(),
        file.upperBounds(),
    )
    builder = (
        catalog.data_files.builder(spec)
        .withPath(file.location())
        .withFormat(file.format())
        .withFileSizeInBytes(file.fileSizeInBytes())
        .withMetrics(measured)
        .withRecordCount(file.recordCount())
        .withSplitOffsets(file.splitOffsets())
    )
    if spec.isPartitioned():
        builder = builder.withPartition(file.partition())
    if file.keyMetadata() is not None:
        builder = builder.withEncryptionKeyMetadata(file.keyMetadata())
    return builder.build()


def partition_filter(
    catalog: IcebergCatalog, dimensions: Sequence[str], wanted: Iterable[Sequence[str]]
) -> Any:
    """Return Iceberg's expression for some partitions, given by their values in order."""
    expressions = catalog.api.expressions.Expressions
    if not dimensions:
        return expressions.alwaysTrue()
    groups: dict[tuple[str, ...], list[str]] = {}
    for values in wanted:
        groups.setdefault(tuple(values[:-1]), []).append(values[-1])
    if not groups:
        return expressions.alwaysFalse()
    # As JSON, since each part of an expression would be a call into the JVM.
    either = [
        _joined(
            "and", [*map(_equal, dimensions, first), {"type": "in", "term": dimensions[-1], "values": last}]
        )
        for first, last in groups.items()
    ]
    return catalog.api.expressions.ExpressionParser.fromJson(json.dumps(_joined("or", either)))


def _equal(dimension: str, value: str) -> dict[str, Any]:
    return {"type": "eq", "term": dimension, "value": value}


def _joined(kind: str, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return an expression of several, as a tree as low as possible: Java goes through it by recursion."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return {"type": kind, "left": _joined(kind, parts[:half]), "right": _joined(kind, parts[half:])}


def all_but(catalog: IcebergCatalog, dimensions: Sequence[str], kept: Iterable[str]) -> Any:
    """Return Iceberg's expression for all rows except those of some partitions, given by their keys."""
    split = [key.split(SEPARATOR) if len(dimensions) > 1 else [key] for key in kept]
    expressions = catalog.api.expressions.Expressions
    return (
        getattr(expressions, "not")(partition_filter(catalog, dimensions, split))
        if split
        else expressions.alwaysTrue()
    )


def same_numbers(columns: Any, schema: Any) -> bool:
    """Return whether a schema has no column of these names, including nested fields, with another field id.

    A column that was renamed keeps its id, and one that was dropped has none.
    """
    names: dict[int, str] = dict(columns.idToName())
    for number, name in names.items():
        if schema.findColumnName(number) != name:
            known = schema.findField(name) or schema.caseInsensitiveFindField(name)
            if known is not None and known.fieldId() != number:
                return False
    return True


def dropped_columns(output: Sequence[str], staged: Any, schema: Any) -> tuple[str, ...]:
    """Return the columns of an output whose staged field ids and names a schema does not have any more."""
    ours = {column.lower() for column in output}
    names: dict[int, str] = dict(staged.idToName())
    gone = (
        name.partition(".")[0]
        for number, name in names.items()
        if schema.findColumnName(number) is None and schema.caseInsensitiveFindField(name) is None
    )
    return tuple(dict.fromkeys(name for name in gone if name.lower() in ours))


def keys_of(table: Any, publish: Publish) -> tuple[str, ...] | None:
    """Return the partitions that a publish has written; None when only its expired snapshot listed them."""
    if publish.keys is not None:
        return publish.keys
    found = table.snapshot(publish.snapshot)
    return None if found is None else tuple(json.loads(found.summary().get(SUMMARY_KEYS)))


def keep_snapshots(transaction: Any, publishes: Iterable[Publish]) -> None:
    """Keep the snapshots of publishes whose partitions are listed only in the snapshot's summary.

    Each gets a tag, which every expiry respects for `EVIDENCE_DAYS`.
    """
    table = transaction.table()
    for one in publishes:
        tag = f"tidegate-{one.snapshot}"
        if table.snapshot(one.snapshot) is not None and table.refs().get(tag) is None:
            refs = transaction.manageSnapshots().createTag(tag, one.snapshot)
            refs.setMaxRefAgeMs(tag, EVIDENCE_DAYS * DAY_MILLISECONDS).commit()


def _new_columns(existing: Any, wide: Any) -> Iterator[str]:
    for field in each(wide.columns()):
        known = existing.findField(field.fieldId())
        if known is None or not known.equals(field):
            yield field.name()
