"""Parquet's metadata proves that checks pass, without a Spark job, and never one that rows break."""

import random
from collections.abc import Callable
from itertools import count
from math import nan
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.effort import only
from tests.spark_jobs.frames import frame_of
from tidegate.domain.model import (
    Bounds,
    Check,
    MatchesCheck,
    NotNullCheck,
    RangeCheck,
    RowsCheck,
    UniqueCheck,
    ValuesCheck,
)
from tidegate.spark_jobs.checks import distinct_numbers, footers
from tidegate.spark_jobs.checks.conditions import condition
from tidegate.spark_jobs.checks.judge import judge, judge_staged
from tidegate.spark_jobs.checks.proven import Proof, prove
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.publication.formats import format_of
from tidegate.spark_jobs.publication.table_format import StagedOutput

pytestmark = pytest.mark.spark

COLUMNS = "id bigint, Carrier string, price double, share float, small tinyint, tail string, sum decimal(9,2)"
CHECKS: tuple[Check, ...] = (
    RowsCheck(name="rows", min=1),
    NotNullCheck(name="null", columns=("ID", "carrier")),
    NotNullCheck(name="null_price", columns=("price",)),
    ValuesCheck(name="values", values={"carrier": ("UA", "B6"), "small": (-1, 0, 1)}),
    RangeCheck(name="price", range={"price": Bounds(min=0, max=10)}),
    RangeCheck(name="least", range={"price": Bounds(min=-5)}),
    RangeCheck(name="share", range={"share": Bounds(min=0.1, max=0.7)}),
    RangeCheck(name="text", range={"carrier": Bounds(min="B", max="Z")}),
    MatchesCheck(name="matches", matches={"carrier": "[A-Z0-9]{2}"}),
    UniqueCheck(name="unique", columns=("id",)),
)
GOOD = (1, "UA", 2.5, 0.5, 1, "N1", "1.00")
ALL = {"null", "null_price", "values", "price", "least", "share", "text", "matches"}
_names = (f"proven{number}" for number in count())


Stage = Callable[[list[tuple[Any, ...]], str], StagedOutput]


@pytest.fixture
def stage(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """Return a function that stages rows, in a file for each half of them."""
    monkeypatch.setattr(distinct_numbers, "MANY_ROWS", 1)
    warehouse = Warehouse(path=tmp_path / "warehouse", project=tmp_path)

    def staged(rows: list[tuple[Any, ...]], format: str) -> StagedOutput:
        ref = DatasetRef(app="shop", name=next(_names), format=format, checks=CHECKS)
        halves = (rows[: len(rows) // 2], rows[len(rows) // 2 :])
        first, second = (frame_of(spark, half, COLUMNS).coalesce(1) for half in halves)
        return format_of(ref).stage(
            first.union(second), ref, ("",), warehouse,
            commit=f"c-{ref.name}", token=1, job="", facts={}, state=None, reads=False,
        )  # fmt: skip

    return staged


def prove_staged(spark: SparkSession, output: StagedOutput, rows: int) -> Proof:
    with output.rows(spark) as frame:
        columns = frame.schema
    judged = [(check, condition(spark, output.ref, check, columns)) for check in CHECKS]
    scalar = [(check, when) for check, when in judged if when is not None]
    return prove(spark, output.files(spark), columns, rows, scalar, ("id",))


def but(**values: Any) -> tuple[Any, ...]:
    """The good row with some other values."""
    names = [part.split()[0].lower() for part in COLUMNS.split(", ")]
    return tuple(values.get(name, value) for name, value in zip(names, GOOD, strict=True))


GOOD_ROWS = [but(id=at, price=at % 10 + 0.5, carrier=("UA", "B6")[at % 2]) for at in range(-20, 20)]
MISSED: list[tuple[str, list[tuple[Any, ...]], set[str]]] = [
    ("nothing", [], set()),
    ("null", [but(carrier=None)], {"null"}),
    ("null of a number", [but(price=None)], {"null_price"}),
    ("no value at all", [but(share=None)] * 50, set()),
    ("NaN first", [but(price=nan), but(price=1.0)], {"price", "least"}),
    ("NaN between", [but(price=1.0), but(price=nan), but(price=2.0)], {"price", "least"}),
    ("NaN of float last", [but(share=0.5), but(share=nan)], {"share"}),
    ("too small", [but(price=-0.1)], {"price"}),
    ("too large", [but(share=0.71)], {"share"}),
    ("another value", [but(carrier="ua")], {"values", "text", "matches"}),
    ("another line", [but(carrier="UA\n")], {"values", "matches"}),
    ("no text", [but(carrier="")], {"values", "text", "matches"}),
    ("another number", [but(small=2)], {"values"}),
    ("many values", [but(carrier=f"C{at}") for at in range(200)], {"values", "text", "matches"}),
]
"""What is added to the good rows, and the checks that are not proven then."""


@pytest.mark.parametrize(
    ("format", "added", "missed"),
    [
        pytest.param(format, *row, id=f"{name}, {format}")
        for name, *row in MISSED
        for format in ("parquet", "iceberg")
        # Both write with the same library.
        if format == "parquet" or name in ("nothing", "null", "NaN between", "many values")
    ],
)
def test_what_the_metadata_shows_is_proven(
    spark: SparkSession, stage: Stage, format: str, added: list[tuple[Any, ...]], missed: set[str]
) -> None:
    output = stage(GOOD_ROWS + added, format)

    proof = prove_staged(spark, output, len(GOOD_ROWS + added))

    assert proof.passed == ALL - missed
    assert proof.spreads == {"id": (-20, 19, len(GOOD_ROWS + added))}


@pytest.mark.parametrize("format", ["parquet", "iceberg"])
def test_what_is_proven_needs_no_job(spark: SparkSession, stage: Stage, format: str) -> None:
    output = stage(GOOD_ROWS, format)
    scalar = tuple(check for check in CHECKS if not isinstance(check, UniqueCheck))
    ref = DatasetRef(app="shop", name=output.ref.name, format=format, checks=scalar)
    spark.sparkContext.setJobGroup(ref.name, "checks")
    try:
        with output.rows(spark) as rows:
            verdicts = judge(ref, {"": len(GOOD_ROWS)}, lambda: rows, files=output.files)
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", "")

    assert all(verdict.passed for verdict in verdicts)
    assert spark.sparkContext.statusTracker().getJobIdsForGroup(ref.name) == []


def test_too_little_is_shown(spark: SparkSession, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    output = stage(GOOD_ROWS, "parquet")

    assert prove_staged(spark, output, 41) == Proof()
    for limit in ("FILES", "COLUMNS"):
        with monkeypatch.context() as patch:
            patch.setattr(footers, limit, 0)
            assert prove_staged(spark, output, 40) == Proof()
    (first, *_) = output.files(spark)
    Path(first).write_bytes(b"no Parquet")
    assert prove_staged(spark, output, 40) == Proof()


@pytest.mark.parametrize(
    ("format", "seed"),
    only(
        [(format, seed) for format in ("parquet", "iceberg") for seed in range(3)],
        ("parquet", 0),
        ("iceberg", 1),
    ),
)
def test_verdicts_are_those_of_the_rows(spark: SparkSession, stage: Stage, format: str, seed: int) -> None:
    chance = random.Random(seed)

    def some(*values: Any) -> Any:
        return chance.choice(values if chance.random() < 0.03 else values[:2])

    rows = [
        (
            some(at, at, at - 1, None), some("UA", "B6", "ua", None), some(0.0, -0.0, 9.0, 11.0, nan, None),
            some(0.1, 0.5, 0.7, 0.05, nan), some(0, 1, -1, 5), "N", some("1.00", None),
        )
        for at in range(chance.randrange(2, 60))
    ]  # fmt: skip
    output = stage(rows, format)

    found = judge_staged([output], lambda: spark)

    with output.rows(spark) as frame:
        assert found == judge(output.ref, {"": len(rows)}, lambda: frame)
