"""Declared columns: compared before anything is written, and kept by tables of both formats."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from tests.spark_jobs.publishing import Publisher, with_formats
from tidegate.domain.model import (
    Dataset,
    DeclaredColumn,
    OnNewColumn,
    PartitionScheme,
    StaticDimension,
    WriteMode,
)
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.publication.table import read

pytestmark = pytest.mark.spark

COLUMNS = {"id": "bigint", "delay": "int", "tags": "array<struct<name:string>>"}
BY_AIRPORT = PartitionScheme(static=StaticDimension(name="airport", keys=("EWR", "JFK")))


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession) -> Publisher:
    return Publisher(tmp_path, spark)


def declared(
    house: Publisher,
    columns: dict[str, Any],
    format: str = "parquet",
    write: WriteMode = "append",
    on_new_column: OnNewColumn = "refuse",
    partitions: PartitionScheme | None = None,
) -> DatasetRef:
    given = tuple(
        kind if isinstance(kind, DeclaredColumn) else DeclaredColumn(name=name, type=kind)
        for name, kind in columns.items()
    )
    dataset = Dataset(name="table", columns=given, partitions=partitions)
    return house.ref(
        format=format,
        write=write,
        columns=dataset.all_columns(),
        on_new_column=on_new_column,
        scheme=partitions,
        merge_keys=("id",) if write == "merge" else (),
    )


def columns_of(house: Publisher, ref: DatasetRef) -> list[tuple[str, str]]:
    frame = read(house.spark, ref, house.warehouse)
    assert frame is not None
    return frame.dtypes


def test_all_differences_are_named_with_both_types(house: Publisher) -> None:
    ref = declared(house, COLUMNS)
    frame = house.spark.sql("SELECT 1 AS delay, 'x' AS tags, 2 AS more")
    with pytest.raises(OutputError) as refused:
        house.staged(ref, frame)
    assert refused.value.message == (
        f"{house.app}/table: the output of the run does not have the declared columns: "
        "id is declared bigint, and is missing; "
        "tags is declared array<struct<name:string>>, found string; "
        "more is not declared, found int"
    )
    assert "on_new_column: add" in refused.value.hint
    assert read(house.spark, ref, house.warehouse) is None


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("bigint", "CAST(1 AS INT)"),
        ("int", "CAST(1 AS BIGINT)"),
        ("double", "CAST(1 AS FLOAT)"),
        ("decimal(10,2)", "CAST(1 AS DECIMAL(8,2))"),
        ("string", "1"),
        ("timestamp", "TIMESTAMP_NTZ '2026-01-01 00:00:00'"),
        ("struct<a:int,b:int>", "named_struct('b', 1, 'a', 2)"),
        ("array<bigint>", "array(1)"),
        ("map<string,int>", "map('a', 1L)"),
    ],
)
def test_types_are_compared_as_they_are(house: Publisher, kind: str, value: str) -> None:
    ref = declared(house, {"a": kind})
    with pytest.raises(OutputError, match="a is declared"):
        house.staged(ref, house.spark.sql(f"SELECT {value} AS a"))


@with_formats("iceberg")
def test_a_new_table_has_the_declared_order_and_spelling(house: Publisher, format: str) -> None:
    columns = {**COLUMNS, "none": "date", "inner": "struct<A:int>"}
    ref = declared(house, columns, format, partitions=BY_AIRPORT)
    frame = house.spark.sql(
        "SELECT array() AS TAGS, 3 AS delay, NULL AS none, named_struct('a', 7) AS inner, 1L AS Id"
    )
    house.publish(ref, frame, "EWR")
    assert columns_of(house, ref) == [
        ("id", "bigint"),
        ("delay", "int"),
        ("tags", "array<struct<name:string>>"),
        ("none", "date"),
        ("inner", "struct<A:int>"),
        ("airport", "string"),
    ]
    assert house.rows(ref)[0][:4] == (1, 3, [], None)


@with_formats("parquet")
def test_a_declared_partition_column_keeps_its_place_and_takes_what_becomes_a_key(
    house: Publisher, format: str
) -> None:
    numbered = PartitionScheme(static=StaticDimension(name="gate", keys=("7", "8")))
    ref = declared(house, {"gate": "string", "id": "bigint"}, format, partitions=numbered)
    house.publish(ref, house.spark.sql("SELECT 1L AS id, 7 AS gate"), "7", "8")
    house.publish(ref, house.spark.sql("SELECT 2L AS id"), "8")
    assert columns_of(house, ref) == [("gate", "string"), ("id", "bigint")]
    assert house.rows(ref) == [("7", 1), ("8", 2)]


@with_formats("iceberg")
@pytest.mark.parametrize("write", ["append", "merge", "overwrite_partitions", "full"])
def test_a_table_gets_what_it_lacks_and_keeps_what_is_not_declared_any_more(
    house: Publisher, format: str, write: WriteMode
) -> None:
    partitions = BY_AIRPORT if write == "overwrite_partitions" else None
    key = ("JFK",) if partitions else ()
    before = declared(house, {"id": "bigint", "delay": "int"}, format, write, partitions=partitions)
    house.publish(before, house.spark.sql("SELECT 1L AS id, 5 AS delay"), *key)
    after = declared(house, {"carrier": "string", "id": "bigint"}, format, write, partitions=partitions)
    house.publish(after, house.spark.sql("SELECT 2L AS id, 'UA' AS carrier"), *key)

    frame = read(house.spark, after, house.warehouse)
    assert frame is not None
    found = {(row["id"], row["delay"], row["carrier"]) for row in frame.collect()}
    kept = {(1, 5, None)} if write in ("append", "merge") else set()
    assert found == kept | {(2, None, "UA")}


@with_formats("parquet")
def test_new_columns_are_refused_or_added(house: Publisher, format: str) -> None:
    frame = house.spark.sql("SELECT 'x' AS more, 1L AS id")
    with pytest.raises(OutputError, match="more is not declared, found string"):
        house.staged(declared(house, {"id": "bigint"}, format), frame)
    ref = declared(house, {"id": "bigint"}, format, on_new_column="add")
    house.publish(ref, frame)
    assert columns_of(house, ref) == [("id", "bigint"), ("more", "string")]
    house.publish(ref, house.spark.sql("SELECT 2L AS id"))
    assert house.rows(ref) == [(1, "x"), (2, None)]


@pytest.mark.iceberg
def test_a_table_takes_the_comments_of_new_and_known_columns(house: Publisher) -> None:
    def comments(**described: str) -> dict[str, str | None]:
        columns = {
            name: DeclaredColumn(name=name, type="bigint", unit="min", description=text)
            for name, text in described.items()
        }
        ref = declared(house, columns, "iceberg")
        house.publish(ref, house.spark.range(1).select(*(sf.col("id").alias(name) for name in described)))
        rows = house.spark.sql(f"DESCRIBE tidegate.{house.app}.table").collect()
        return {row["col_name"]: row["comment"] for row in rows}

    assert comments(a="at departure") == {"a": "at departure [min]"}
    assert comments(a="at arrival", b="") == {"a": "at arrival [min]", "b": "[min]"}
