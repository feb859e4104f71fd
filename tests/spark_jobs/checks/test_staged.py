"""What a run has staged is read and judged in both formats and all modes, before any table has it."""

from itertools import count
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.frames import frame_of
from tests.spark_jobs.publishing import with_formats
from tidegate.domain.model import (
    Bounds,
    Check,
    MatchesCheck,
    NotNullCheck,
    PartitionScheme,
    RangeCheck,
    RowsCheck,
    StaticDimension,
    TimeDimension,
    UniqueCheck,
    ValuesCheck,
    WriteMode,
)
from tidegate.spark_jobs.checks.judge import judge_staged, refuse_unjudged
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import NotJudged
from tidegate.spark_jobs.publication.formats import format_of
from tidegate.spark_jobs.publication.table_format import StagedOutput

pytestmark = pytest.mark.spark

DAY = TimeDimension(name="day", cycle="day", start="2013-01-01")
BY_AIRPORT = PartitionScheme(time=DAY, static=StaticDimension(name="origin", keys=("EWR", "JFK")))
KEYS = ("2013-12-22|EWR", "2013-12-22|JFK", "2013-12-23|EWR")
COLUMNS = "day string, origin string, id bigint, `der Preis` double"
ROWS = [
    ("2013-12-22", "EWR", 1, 2.5), ("2013-12-22", "EWR", 2, None),
    ("2013-12-23", "EWR", 2, 11.0), ("2013-12-23", "EWR", 3, 0.0),
]  # fmt: skip
CHECKS: tuple[Check, ...] = (
    RowsCheck(name="rows", min=1),
    UniqueCheck(name="unique", columns=("id",)),
    RangeCheck(name="range", range={"der preis": Bounds(min=0, max=10)}, severity="warn"),
    NotNullCheck(name="null", columns=("day", "origin", "id")),
)
_names = (f"staged{number}" for number in count())


def staged(
    spark: SparkSession, warehouse: Warehouse, format: str, write: WriteMode, rows: list[tuple[object, ...]]
) -> StagedOutput:
    ref = DatasetRef(
        app="shop", name=next(_names), format=format, scheme=BY_AIRPORT, write=write, checks=CHECKS,
        merge_keys=("id",) if write == "merge" else (),
    )  # fmt: skip
    frame = frame_of(spark, rows, COLUMNS.replace("`der Preis`", "price")).withColumnRenamed(
        "price", "der Preis"
    )
    return format_of(ref).stage(
        frame, ref, KEYS, warehouse,
        commit=f"c-{ref.name}", token=1, job="", facts={}, state=None, reads=False,
    )  # fmt: skip


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(path=tmp_path / "warehouse", project=tmp_path)


@pytest.mark.parametrize(
    ("format", "write"),
    [("parquet", "overwrite_partitions"), ("parquet", "merge"), ("iceberg", "append"), ("iceberg", "merge")],
)
def test_staged_rows_are_judged(
    spark: SparkSession, warehouse: Warehouse, format: str, write: WriteMode
) -> None:
    output = staged(spark, warehouse, format, write, ROWS)

    rows, unique, price, null = judge_staged([output], lambda: spark)

    assert (rows.passed, rows.bad, rows.partitions) == (False, 1, ("2013-12-22|JFK",))
    assert rows.found == "2013-12-22|JFK: 0 rows, at least 1 row"
    assert (unique.bad, unique.rows, unique.samples) == (2, 4, ({"id": "2"},))
    assert unique.found == "2 of 4 rows: id not unique"
    assert (price.severity, price.found) == ("warn", "1 of 4 rows: der preis is not from 0 to 10")
    merged = {"id": "2"} if write == "merge" else {}
    assert price.samples == ({"day": "2013-12-23", "origin": "EWR", **merged, "der Preis": "11.0"},)
    assert (null.passed, null.found) == (True, "4 rows: day, origin and id never null")
    with output.rows(spark) as frame:
        assert {(row.day, row.id) for row in frame.collect()} == {(row[0], row[2]) for row in ROWS}


@with_formats("iceberg")
def test_an_output_without_rows_fails_only_its_least_number(
    spark: SparkSession, warehouse: Warehouse, format: str
) -> None:
    output = staged(spark, warehouse, format, "overwrite_partitions", [])

    found = judge_staged([output], lambda: spark)

    assert [each.passed for each in found] == [False, True, True, True]
    assert (found[0].bad, found[0].partitions) == (3, KEYS)


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (
            NotNullCheck(name="c", columns=("gone",)),
            "there is no column gone; there are id, text, on, map, day",
        ),
        (RangeCheck(name="c", range={"text": Bounds(min=1)}), "string cannot be compared with 1"),
        (RangeCheck(name="c", range={"id": Bounds(min="soon")}), '"soon" is not a number'),
        (RangeCheck(name="c", range={"on": Bounds(max="soon")}), '"soon" is not a value of date'),
        (ValuesCheck(name="c", values={"id": (1, 1.5)}), "1.5 is not a value of bigint"),
        (ValuesCheck(name="c", values={"on": (3,)}), "3 is not a value of date"),
        (ValuesCheck(name="c", values={"id": (True,)}), "true is not a value of bigint"),
        (MatchesCheck(name="c", matches={"id": "1"}), "id is bigint, and only a text matches a pattern"),
        (MatchesCheck(name="c", matches={"text": "a)("}), "'a)(' is not a regular expression: Unmatched"),
        (UniqueCheck(name="c", columns=("map",)), "map is map<string,bigint>, and maps cannot be compared"),
        (ValuesCheck(name="c", values={"map": (1,)}), "map<string,bigint> cannot be compared with 1"),
    ],
)
def test_what_cannot_be_judged_is_refused_before_staging(spark: SparkSession, check: Check, why: str) -> None:
    ref = DatasetRef(app="shop", name="orders", scheme=PartitionScheme(time=DAY), checks=(check,))
    frame = frame_of(spark, [], "id bigint, Day string, text string, on date, map map<string,bigint>")

    with pytest.raises(NotJudged) as refused:
        refuse_unjudged(spark, ref, frame.schema)

    assert why in refused.value.message
    assert str(refused.value).startswith("shop/orders: the check c cannot be judged: ")
