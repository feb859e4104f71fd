"""The declared columns of a dataset against those that an output has, before anything of it is written.

    names and types ── differ ──► OutputError with all differences
                    └─ agree ───► declared columns in their order ─► those that are added ─► staging

The types are compared as they are: an int is not taken for a bigint. What has no values (NULL in a query) is
of every type. Partition columns are not compared: they become keys. The table gets the columns, their order
and their comments from the rows that are staged, so a declaration changes nothing by itself.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import DataType, StructField, StructType

from tidegate.domain.column_type import is_of_type, parse_type, type_text
from tidegate.domain.model import DeclaredColumn
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.datasets.partition_columns import with_partition_columns
from tidegate.spark_jobs.errors import OutputError

COMMENT = "comment"
"""The metadata of a column of Spark that tables keep as its comment."""


def refuse_undeclared(ref: DatasetRef, frame: DataFrame, program: str) -> None:
    """Refuse an output whose columns are not those that its dataset declares.

    Args:
        program: who made it, for the message.

    Raises:
        OutputError: with each column that differs, its declared and its found type.
    """
    if not ref.columns:
        return
    found: dict[str, Any] = {field["name"]: field["type"] for field in frame.schema.jsonValue()["fields"]}
    new = list(_new_columns(ref, found)) if ref.on_new_column == "refuse" else []
    differences = [*_differences(ref, found), *new]
    if differences:
        raise OutputError(
            f"{ref.id}: the output of {program} does not have the declared columns: {'; '.join(differences)}",
            "correct the program, or `columns` of the dataset"
            + ("; `on_new_column: add` takes new columns" if new else ""),
        )


def as_declared(frame: DataFrame, ref: DatasetRef, keys: tuple[str, ...]) -> DataFrame:
    """Return an output that `refuse_undeclared` has let pass with its columns as declared.

    Args:
        keys: the partitions that the run writes.
    """
    if not ref.columns:
        return frame
    frame = with_partition_columns(frame, ref, keys)
    fields = {field.name.lower(): field for field in frame.schema.fields}
    declared = [_selected(frame, fields.pop(each.name.lower()), each) for each in ref.columns]
    return frame.select(*declared, *(frame[f"`{field.name}`"] for field in fields.values()))


def declared_schema(columns: tuple[DeclaredColumn, ...]) -> StructType:
    """Return declared columns as those of rows."""
    return StructType([StructField(each.name, _type(each), metadata=_metadata(each)) for each in columns])


def _differences(ref: DatasetRef, found: Mapping[str, Any]) -> Iterator[str]:
    kept = {name.lower() for name in ref.dimensions()}
    there = {name.lower(): kind for name, kind in found.items()}
    for column in ref.columns:
        name = column.name.lower()
        if name in kept:
            continue
        if name not in there:
            yield f"{column.name} is declared {column.type}, and is missing"
        elif not is_of_type(there[name], parse_type(column.type)):
            yield f"{column.name} is declared {column.type}, found {type_text(there[name])}"


def _new_columns(ref: DatasetRef, found: Mapping[str, Any]) -> Iterator[str]:
    known = {name.lower() for name in ref.dimensions()} | {column.name.lower() for column in ref.columns}
    for name, kind in found.items():
        if name.lower() not in known:
            yield f"{name} is not declared, found {type_text(kind)}"


def _selected(frame: DataFrame, field: StructField, declared: DeclaredColumn) -> Column:
    column, kind = frame[f"`{field.name}`"], _type(declared)
    if type_text(field.dataType.jsonValue()) != declared.type:
        # What has no values, and fields that are spelled in another way.
        column = column.cast(kind)
    return column.alias(declared.name, metadata={**field.metadata, **_metadata(declared)})


def _type(declared: DeclaredColumn) -> DataType:
    return StructType.fromJson(
        {"fields": [{"name": "it", "type": parse_type(declared.type), "nullable": True, "metadata": {}}]}
    )[0].dataType


def _metadata(declared: DeclaredColumn) -> dict[str, Any]:
    return {COMMENT: declared.comment} if declared.comment else {}
