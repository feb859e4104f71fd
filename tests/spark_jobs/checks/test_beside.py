"""Checks that look at other data: earlier numbers of rows, another dataset, a query, and a function."""

from collections.abc import Mapping, Sequence
from random import Random
from statistics import median
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark_jobs.frames import frame_of
from tidegate.domain.commits import CheckVerdict
from tidegate.domain.model import (
    ChangeCheck,
    Check,
    PartitionScheme,
    ReferenceCheck,
    RunCheck,
    SqlCheck,
    StaticDimension,
    TimeDimension,
)
from tidegate.spark_jobs.checks.compared import Beside, keys_before
from tidegate.spark_jobs.checks.judge import judge, refuse_unjudged
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import NotJudged
from tidegate.spark_jobs.programs.params import Params

pytestmark = pytest.mark.spark

DAY = TimeDimension(name="day", cycle="day", start="2013-01-01")
BY_AIRPORT = PartitionScheme(time=DAY, static=StaticDimension(name="origin", keys=("EWR", "JFK")))
NAN = float("nan")
ROWS = [(1, "AA", 0.0), (2, "UA", NAN), (3, None, 1.0), (4, "XX", -0.0), (5, "AA", None)]
COLUMNS = "id bigint, carrier string, price double"


def events(known: Mapping[str, Sequence[int]]) -> Beside:
    """What a store has reported: the rows of each partition, oldest first."""

    def reported(dataset: str, keys: Sequence[str], newest: int) -> dict[str, tuple[int, ...]]:
        return {key: tuple([*known[key]][::-1][:newest]) for key in keys if key in known}

    return Beside(reported=reported)


def verdict(
    check: Check, counts: dict[str, int], beside: Beside, scheme: PartitionScheme | None
) -> CheckVerdict:
    ref = DatasetRef(app="shop", name="orders", scheme=scheme, checks=(check,))

    def no_rows() -> DataFrame:
        raise AssertionError("a check that counts reads no rows")

    return judge(ref, counts, no_rows, beside)[0]


def test_the_periods_before_a_partition_end_at_the_first_one() -> None:
    assert keys_before(BY_AIRPORT, "2013-01-03|JFK", 7) == ("2013-01-02|JFK", "2013-01-01|JFK")
    assert keys_before(PartitionScheme(time=DAY), "2013-03-02", 2) == ("2013-03-01", "2013-02-28")


@pytest.mark.parametrize(("rows", "passed"), [(0, False), (49, False), (50, True), (150, True), (151, False)])
def test_rows_are_compared_with_the_median_of_the_newest_events_before(rows: int, passed: bool) -> None:
    known = {"2013-01-04": [7, 90], "2013-01-03": [100], "2013-01-02": [900], "2013-01-01": [10]}
    check = ChangeCheck(name="change", rows="50%", over=3)
    assert median([90, 100, 900]) == 100

    # Of the second one only two are known.
    counts = {"2013-01-05": rows, "2013-01-06": 1}
    found = verdict(check, counts, events(known), PartitionScheme(time=DAY))

    assert (found.passed, found.bad) == (passed, 0 if passed else 1)
    assert found.partitions == (() if passed else ("2013-01-05",))


def test_without_periods_the_publishes_before_are_compared() -> None:
    check = ChangeCheck(name="change", rows="10%", over=4)
    airports = PartitionScheme(static=StaticDimension(name="origin", keys=("EWR", "JFK")))

    whole = verdict(check, {"": 120}, events({"": [1, 100, 100, 100, 100]}), None)
    parts = verdict(check, {"EWR": 109, "JFK": 109}, events({"EWR": [100] * 3, "JFK": [50] * 3}), airports)

    assert whole.found == "120 rows, the median before is 100, at most 10% from the median of the 4 before"
    assert parts.partitions == ("JFK",)


def test_with_fewer_than_three_known_it_passes_and_says_so() -> None:
    check = ChangeCheck(name="change", rows="10%")

    found = verdict(check, {"": 5}, events({"": [100, 100]}), None)

    assert found.passed
    assert found.found.endswith("; not compared: fewer than 3 publishes before it are known")


def test_each_of_a_thousand_partitions_is_compared_as_pandas_does() -> None:
    draw = Random(38)
    days = pd.date_range("2013-01-01", periods=1_000)
    before = pd.Series([draw.choice([0, 90, 100, 110, 250]) for _ in days], index=days)
    now = {str(day.date()): draw.choice([0, 40, 95, 160]) for day in days}
    known = {str(day.date()): [rows] for day, rows in before.items() if draw.random() < 0.6}

    found = verdict(
        ChangeCheck(name="change", rows="50%", over=7), now, events(known), PartitionScheme(time=DAY)
    )

    reported = before.where(before.index.map(lambda day: str(day.date()) in known))
    medians = reported.shift(1).rolling(7, min_periods=3).median()
    bad = [
        key for key, of in zip(now, medians, strict=True) if not pd.isna(of) and abs(now[key] - of) > of / 2
    ]
    assert (found.bad, found.partitions) == (len(bad), tuple(bad[:5]))
    assert 100 < len(bad) < 900


def test_a_frame_without_any_row_is_not_compared() -> None:
    check = ChangeCheck(name="change", rows="10%")

    found = verdict(check, {"": 0}, events({"": [100] * 3}), None)

    assert found.passed
    assert found.found == "at most 10% from the median of the 7 before; not compared: there are no rows"


def carriers(spark: SparkSession) -> Beside:
    other = frame_of(spark, [("UA", NAN), ("AA", 0.0), ("AA", 7.0)], "code string, least double")
    ref = DatasetRef(app="shop", name="carriers")
    return Beside(
        reads={"carriers": ref}, read=lambda of: other if of == ref else None,
        inputs={"carriers": other}, params=Params(key="k"),
    )  # fmt: skip


def look(spark: SparkSession, check: Check, rows: Sequence[tuple[Any, ...]] = ROWS) -> CheckVerdict:
    ref = DatasetRef(app="shop", name="orders", checks=(check,))
    frame = frame_of(spark, [*rows], COLUMNS)
    refuse_unjudged(spark, ref, frame.schema, carriers(spark))
    return judge(ref, {"": len(rows)}, lambda: frame, carriers(spark))[0]


def test_a_reference_finds_what_pandas_finds(spark: SparkSession) -> None:
    one = look(spark, ReferenceCheck(name="c", columns=("Carrier",), dataset="carriers", to=("code",)))
    two = look(
        spark,
        ReferenceCheck(name="c", columns=("carrier", "price"), dataset="carriers", to=("code", "least")),
    )

    frame = pd.DataFrame(ROWS, columns=["id", "carrier", "price"])
    bad = frame[frame["carrier"].notna() & ~frame["carrier"].isin(["UA", "AA"])]
    assert (one.bad, one.samples) == (len(bad), ({"carrier": "XX"},))
    assert one.found == "1 of 5 rows: Carrier not in carriers"
    # NaN equals NaN, -0.0 equals 0.0, and a row with null passes.
    assert (two.bad, two.samples) == (1, ({"carrier": "XX", "price": "-0.0"},))


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (ReferenceCheck(name="c", columns=("id",), dataset="gone"), "gone is not among the datasets"),
        (ReferenceCheck(name="c", columns=("id",), dataset="carriers"), "there is no column id; there are"),
        (
            ReferenceCheck(name="c", columns=("id",), dataset="carriers", to=("code",)),
            "id is bigint, and code of carriers is string: they cannot be compared",
        ),
        (SqlCheck(name="c", sql="SELECT gone FROM orders"), "Spark refuses the query"),
        (SqlCheck(name="c", sql="SELECT * FROM others"), "a table is a dataset under `reads`"),
        (SqlCheck(name="c", sql="DROP TABLE orders"), "Q104"),
        (SqlCheck(name="c", sql="INSERT INTO orders SELECT * FROM carriers"), "Q104"),
        (RunCheck(name="c", run=f"{__name__}.gone"), "has no function gone"),
        (RunCheck(name="c", run=f"{__name__}.carriers"), "it is called as run(spark, rows, params)"),
    ],
)
def test_what_cannot_be_judged_is_refused_before_staging(spark: SparkSession, check: Check, why: str) -> None:
    with pytest.raises(NotJudged) as refused:
        look(spark, check)

    assert why in refused.value.message


def test_every_row_of_a_query_is_bad(spark: SparkSession) -> None:
    text = """
        SELECT o.id AS number, c.code FROM orders o JOIN carriers c ON o.carrier = c.code
        WHERE :key = 'k' AND o.id NOT IN (SELECT id FROM orders__published)
    """
    found = look(spark, SqlCheck(name="c", sql=text))

    assert (found.bad, found.found) == (5, "5 rows: returned by its query")
    assert found.samples[0] == {"number": "1", "code": "AA"}
    assert look(spark, SqlCheck(name="c", sql="SELECT * FROM orders WHERE id > 5")).passed


def plausible(spark: SparkSession, rows: DataFrame, params: Params) -> DataFrame | None:
    assert rows.sparkSession is spark
    return rows.where("price >= 0") if params.key == "k" else None


def nothing(spark: SparkSession, rows: DataFrame, params: Params) -> None:
    return None


def raises(spark: SparkSession, rows: DataFrame, params: Params) -> DataFrame:
    raise KeyError("no such thing")


def number(spark: SparkSession, rows: DataFrame, params: Params) -> int:
    return rows.count()


def writes(spark: SparkSession, rows: DataFrame, params: Params) -> None:
    rows.write.mode("overwrite").parquet(FOLDER[0])


def writes_a_table(spark: SparkSession, rows: DataFrame, params: Params) -> None:
    rows.createOrReplaceTempView("mine")
    spark.sql("CREATE TABLE copied USING parquet AS SELECT * FROM mine")


def writes_into_a_folder(spark: SparkSession, rows: DataFrame, params: Params) -> None:
    rows.write.format("iceberg").mode("append").save(FOLDER[0])


def fails_late(spark: SparkSession, rows: DataFrame, params: Params) -> DataFrame:
    return rows.selectExpr("raise_error('no such row') AS late")


def changes_its_session(spark: SparkSession, rows: DataFrame, params: Params) -> DataFrame:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    spark.catalog.dropTempView("shared")
    rows.createOrReplaceTempView("left_behind")
    return OTHER[0]


OTHER: list[Any] = []
FOLDER = [""]


def test_a_function_returns_the_bad_rows_or_none(spark: SparkSession) -> None:
    found = look(spark, RunCheck(name="c", run=f"{__name__}.plausible"))

    # NaN is the largest number of Spark.
    assert (found.bad, found.found) == (4, f"4 rows: returned by {__name__}.plausible")
    assert look(spark, RunCheck(name="c", run=f"{__name__}.nothing")).passed


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("raises", "raises KeyError: 'no such thing'"),
        ("number", "returns a DataFrame or None, got int"),
        ("writes", "since it writes: a check reads"),
        ("writes_a_table", "since it writes: a check reads"),
        pytest.param("writes_into_a_folder", "since it writes: a check reads", marks=pytest.mark.iceberg),
        ("fails_late", "no such row"),
    ],
)
def test_a_function_that_raises_or_writes_is_not_judged(
    spark: SparkSession, tmp_path: Any, function: str, why: str
) -> None:
    FOLDER[0] = str(tmp_path / "out")

    with pytest.raises(NotJudged) as refused:
        look(spark, RunCheck(name="c", run=f"{__name__}.{function}"))

    assert why in refused.value.message
    assert not [*tmp_path.rglob("*.parquet")]


def test_what_a_function_does_to_its_session_is_gone_with_it(spark: SparkSession) -> None:
    spark.sql("SELECT 7 AS n").createOrReplaceTempView("shared")
    OTHER[:] = [spark.table("shared")]
    zone = spark.conf.get("spark.sql.session.timeZone")

    found = look(spark, RunCheck(name="c", run=f"{__name__}.changes_its_session"))

    # The bad rows may be a frame of any session.
    assert (found.bad, found.samples) == (1, ({"n": "7"},))
    assert spark.conf.get("spark.sql.session.timeZone") == zone
    assert [view.viewName for view in spark.sql("SHOW VIEWS").collect()] == ["shared"]
    spark.catalog.dropTempView("shared")


def test_no_rows_pass_what_does_not_count(spark: SparkSession) -> None:
    assert look(spark, SqlCheck(name="c", sql="SELECT count(*) AS n FROM orders"), ()).passed
