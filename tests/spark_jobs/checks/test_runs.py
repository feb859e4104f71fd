"""Runs whose checks fail: nothing is published, all outputs are withheld together, and the rest is named."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.frames import frame_of
from tidegate.domain.commits import CheckVerdict
from tidegate.domain.model import (
    Bounds,
    Dataset,
    NotNullCheck,
    PartitionScheme,
    Program,
    RangeCheck,
    RowsCheck,
    TimeDimension,
    UniqueCheck,
)
from tidegate.spark_jobs.attempt import Output, OutputAttempt
from tidegate.spark_jobs.commit.context import NoEvents
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.errors import NotJudged, PublishWithheld
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read
from tidegate.spark_jobs.runner import run_program

pytestmark = pytest.mark.spark

DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))
D22, D23 = "2013-12-22", "2013-12-23"
ROWS: dict[str, list[tuple[object, ...]]] = {}
"""What the program returns, by output."""
ORDERS = Dataset(
    name="orders", partitions=DAILY,
    checks=(
        RowsCheck(name="rows", min=1), UniqueCheck(name="unique_id", columns=("id",)),
        RangeCheck(name="range_price", range={"price": Bounds(min=0)}, severity="warn"),
    ),
)  # fmt: skip
LINES = Dataset(name="lines", format="iceberg", checks=(NotNullCheck(name="not_null_id", columns=("id",)),))


def made(spark: SparkSession, inputs: object, params: object) -> dict[str, DataFrame]:
    """A program with two outputs."""
    columns = "day string, id bigint, price double"
    return {name: frame_of(spark, rows, columns) for name, rows in ROWS.items()}


class Shop:
    """Runs the program of this module."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.spark, self.store = spark, MemoryCommitStepStore()
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.app = f"checked{abs(hash(folder))}"
        self.judged: list[CheckVerdict] = []

    def run(self, commit: str, *datasets: Dataset, keys: Sequence[str] = (D22, D23)) -> Any:
        self.judged.clear()
        writes = tuple(each.name for each in datasets)
        return run_program(
            self.spark, self.warehouse, self.store, app=self.app, commit=commit,
            program=Program(name="make", run=f"{__name__}.made", writes=writes),
            datasets={each.name: each for each in datasets}, params=Params(partitions=tuple(keys)),
            judged=self.judged.extend,
        )  # fmt: skip

    def ids(self, dataset: Dataset) -> list[int] | None:
        frame = read(self.spark, dataset_ref(self.app, dataset), self.warehouse)
        return None if frame is None else sorted(row.id for row in frame.collect())


@pytest.fixture
def shop(tmp_path: Path, spark: SparkSession) -> Shop:
    return Shop(tmp_path, spark)


@pytest.mark.iceberg
def test_a_failed_check_withholds_all_outputs_and_names_all_checks(shop: Shop) -> None:
    ROWS["orders"] = [(D22, 1, 2.0), (D22, 1, -1.0)]
    ROWS["lines"] = [(D22, 7, None)]

    with pytest.raises(PublishWithheld) as withheld:
        shop.run("c1", ORDERS, LINES)

    assert [(each.name, each.passed) for each in shop.judged] == [
        ("rows", False), ("unique_id", False), ("range_price", False), ("not_null_id", True),
    ]  # fmt: skip
    assert withheld.value.verdicts == tuple(shop.judged)
    message = str(withheld.value)
    assert "commit c1 is withheld, since 2 of 4 checks failed" in message
    assert f"{D23}: 0 rows, at least 1 row" in message and "2 of 2 rows: id not unique" in message
    assert "tidegate commits release c1 --reason" in message
    assert (shop.ids(ORDERS), shop.ids(LINES)) == (None, None)
    assert shop.store.list_unfinished() == ()

    # The next attempt of the same work takes its place; a check of severity `warn` publishes.
    ROWS["orders"] = [(D22, 1, 2.0), (D23, 2, -1.0)]
    published = shop.run("c1", ORDERS, LINES)

    assert {part.dataset for part in published} == {"orders", "lines"}
    assert [each.name for each in shop.judged if not each.passed] == ["range_price"]
    assert (shop.ids(ORDERS), shop.ids(LINES)) == ([1, 2], [7])
    assert shop.store.list_withheld() == ()


def test_a_check_that_cannot_be_judged_fails_the_run_whatever_its_severity(shop: Shop) -> None:
    ROWS.clear()
    ROWS["orders"] = []
    wrong = Dataset(name="orders", checks=(NotNullCheck(name="c", columns=("gone",), severity="warn"),))

    with pytest.raises(NotJudged, match="the check c cannot be judged: there is no column gone"):
        shop.run("c1", wrong, keys=())

    assert shop.judged == []
    assert not [*Path(str(shop.warehouse.path)).rglob("*.parquet")]


def test_the_last_output_of_a_step_withholds_all_of_them(shop: Shop) -> None:
    first = dataset_ref(shop.app, ORDERS)
    second = DatasetRef(app=shop.app, name="others")
    attempt = OutputAttempt(
        shop.warehouse, shop.store, commit="step", job="r1", by="step s", spark=lambda: shop.spark,
        outputs={"a": Output(ref=first, keys=(D22,)), "b": Output(ref=second, keys=("",))},
        events=lambda commit: NoEvents(),
    )  # fmt: skip
    attempt.begin()
    attempt.stage("a", frame_of(shop.spark, [], "day string, id bigint, price double"))
    attempt.stage("b", frame_of(shop.spark, [(1,)], "id bigint"))

    with pytest.raises(PublishWithheld):
        attempt.publish()

    assert [each.passed for each in attempt.verdicts] == [False, True, True]
    assert attempt.published == {}
    assert read(shop.spark, second, shop.warehouse) is None
    assert [each.commit for each in shop.store.list_withheld()] == ["step"]
