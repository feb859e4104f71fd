"""The columns of a table that must have a value: NOT NULL, and the fields that identify a row.

A publish keeps them as they are. An output's columns may be null, so without this Iceberg would make the
columns of the table optional, and refuse that for the fields that identify a row. Pure, but for the rows.
"""

import json
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidegate.spark_jobs.datasets.column_names import spelling
from tidegate.spark_jobs.datasets.row_refusal import refusal
from tidegate.spark_jobs.errors import OutputError


def with_required(columns: str, table: str) -> str:
    """Return Spark's JSON of columns that are required exactly where a table has them so.

    Args:
        columns: Spark's JSON of the columns of an output.
        table: Iceberg's JSON of those of the table; "" for one that does not exist.
    """
    return json.dumps(_typed(json.loads(columns), json.loads(table) if table else None))


def without_nulls(name: str, frame: DataFrame, table: str) -> DataFrame:
    """Return an output whose evaluation fails where a required column of the table has no value.

    Raises:
        OutputError: the output lacks a required column.
    """
    for field in json.loads(table)["fields"] if table else ():
        if not field["required"]:
            continue
        column = spelling(field["name"], frame.columns)
        if column is None:
            raise OutputError(
                f"{name}: the column {field['name']} is NOT NULL in the table, and the output lacks it",
                "return the column",
            )
        told = f"the column {column} is NOT NULL in the table, and a row of the output has no value in it; "
        filled = sf.coalesce(
            frame[f"`{column}`"],
            refusal(sf.lit(told + "fill it, or leave such rows out")).cast(frame.schema[column].dataType),
        )
        frame = frame.withColumn(column, filled)
    return frame


def _typed(kind: Any, table: Any) -> Any:
    if not isinstance(kind, dict):
        return kind
    there = table if isinstance(table, dict) else dict[str, Any]()
    match kind["type"]:
        case "struct":
            known = {field["name"].lower(): field for field in there.get("fields", ())}
            return {
                **kind,
                "fields": [_field(each, known.get(each["name"].lower())) for each in kind["fields"]],
            }
        case "array":
            element = _typed(kind["elementType"], there.get("element"))
            return {**kind, "elementType": element, "containsNull": not there.get("element-required", False)}
        case "map":
            key, value = (
                _typed(kind["keyType"], there.get("key")),
                _typed(kind["valueType"], there.get("value")),
            )
            needs = there.get("value-required", False)
            return {**kind, "keyType": key, "valueType": value, "valueContainsNull": not needs}
        case _:
            return kind


def _field(field: Any, known: Any) -> Any:
    required = known is not None and known["required"]
    return {**field, "type": _typed(field["type"], known and known["type"]), "nullable": not required}
