"""How often a publish calls the JVM. Each call costs time, most of all in a JVM that has just started.

The limits are those of a publish of three data files into a table that exists, with a little room. A
change that exceeds one has added a second look at a table, or an exception, of which PySpark asks a lot.
Two of staging ask whether the program has arranged its rows, which is then kept; two of each half switch how
permissions are set.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.effort import only
from tests.spark_jobs.iceberg.house import D22, D23, D24, DAILY, NEVER, House
from tests.spark_jobs.jvm_calls import counted
from tidegate.domain.model import WriteMode
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.java.permissions import MANY, permissions_by_java
from tidegate.spark_jobs.publication.table import Publication

pytestmark = pytest.mark.spark

LOADS = {"append": 3, "overwrite_partitions": 4, "full": 4, "merge": 8}
"""How often a table is loaded, the staging table too: each time its whole metadata is read."""


class Killed(BaseException):
    """The death of a process."""


def die(*_: object) -> None:
    raise Killed


def with_our_permissions(spark: SparkSession) -> None:
    """Compile what a JVM needs once."""
    with permissions_by_java(spark, MANY):
        pass


def shuffles_of_the_last_write(spark: SparkSession) -> int:
    """Return how often the newest plan that Spark has executed moves its rows between tasks."""
    session: Any = spark._jsparkSession
    session.sparkContext().listenerBus().waitUntilEmpty()
    newest = session.sharedState().statusStore().executionsList().last()
    plan = str(newest.physicalPlanDescription()).partition("Initial Plan")[2]
    return plan.partition("\n\n")[0].count("Exchange")


@pytest.mark.parametrize(
    ("write", "staging", "publishing"),
    only(
        [("append", 90, 44), ("overwrite_partitions", 90, 52), ("full", 90, 52), ("merge", 108, 246)],
        ("overwrite_partitions", 90, 52),
        ("merge", 108, 246),
    ),
)
def test_a_publish_calls_the_jvm_no_more_often_than_this(
    tmp_path: Path,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    write: WriteMode,
    staging: int,
    publishing: int,
) -> None:
    house = House(tmp_path, spark)
    ref = house.ref(write, DAILY, "t", *(("id",) if write == "merge" else ()))
    rows = house.frame((D22, 1, "a"), (D23, 2, "b"), (D24, 3, "c"))
    house.publish(rows, ref, D22, D23, D24)
    with_our_permissions(spark)

    token = house.store.begin("counted", [ref.id], until=NEVER)
    publication = Publication(
        house.warehouse, house.store, commit="counted", token=token, spark=lambda: spark
    )
    with counted(monkeypatch) as staged:
        publication.stage(rows, ref, (D22, D23, D24))
    # A merge asks for repeated keys after its write.
    assert write == "merge" or shuffles_of_the_last_write(spark) == 1
    with counted(monkeypatch) as published:
        publication.publish()

    assert house.staged() == []
    assert staged.total() <= staging, staged.most_common(20)
    assert published.total() <= publishing, published.most_common(20)
    assert staged["loadTable"] + published["loadTable"] <= LOADS[write]


@pytest.mark.parametrize("write", only(["append", "merge"], "merge"))
def test_a_publish_calls_the_jvm_no_more_often_for_more_partitions(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, write: WriteMode
) -> None:
    house = House(tmp_path, spark)
    ref = house.ref(write, DAILY, "t", *(("id",) if write == "merge" else ()))
    days = tuple(f"2013-12-{day:02}" for day in range(1, 13))
    house.publish(house.frame(*((day, n, "a") for day in days for n in range(2))), ref, *days)
    with_our_permissions(spark)

    found: list[Counter[str]] = []
    for number in (4, 12):
        rows = house.frame(*((day, 1, "b") for day in days[:number]))
        with counted(monkeypatch) as calls:
            published = house.publish(rows, ref, *days[:number])
        assert [(part.rows, part.files) for part in published] == [(1, 1)] * number
        found.append(calls)

    few, many = found
    assert many.total() == few.total(), many - few
    assert len(house.rows(ref)) == (40 if write == "append" else 24)


def test_a_table_that_does_not_exist_costs_no_more_than_its_answer(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(tmp_path, spark)
    with counted(monkeypatch) as calls:
        assert house.catalog.table((house.app, "nowhere")) is None

    assert calls.total() <= 6, calls.most_common(20)


def test_recovering_the_first_publish_of_a_table_calls_the_jvm_no_more_often_than_this(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(tmp_path, spark)
    ref = house.ref("overwrite_partitions", DAILY, "t")
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr("tidegate.spark_jobs.commit.publish.finish", die)
        house.publish(house.frame((D22, 1, "a")), ref, D22)

    with counted(monkeypatch) as calls:
        assert len(recover([ref.id], house.store, house.context)) == 1

    assert house.staged() == []
    assert calls.total() <= 120, calls.most_common(20)
    assert calls["loadTable"] <= 4
