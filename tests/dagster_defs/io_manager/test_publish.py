"""What assets return is published exactly once, and read back by other assets."""

from typing import Any

import pytest
from dagster import (
    AllPartitionMapping,
    AssetExecutionContext,
    AssetIn,
    BackfillPolicy,
    DailyPartitionsDefinition,
    DynamicPartitionsDefinition,
    HourlyPartitionsDefinition,
    MultiPartitionKey,
    MultiPartitionsDefinition,
    StaticPartitionsDefinition,
    TimeWindowPartitionMapping,
    asset,
)
from pyspark.sql import DataFrame

from tests.dagster_defs.io_manager.house import House
from tests.spark_jobs.frames import frame_of

pytestmark = [pytest.mark.spark, pytest.mark.dagster]

DAYS = DailyPartitionsDefinition("2023-03-01")


def test_an_asset_is_published_and_read(house: House) -> None:
    @asset(metadata={"tidegate/write": "append"})
    def numbers() -> DataFrame:
        return house.spark.range(3).toDF("n")

    @asset(key_prefix="shop")
    def doubled(numbers: DataFrame) -> DataFrame:
        return numbers.selectExpr("n * 2 AS n")

    first = house.run(numbers, doubled)
    second = house.run(numbers)

    assert house.rows(numbers) == [(0,), (0,), (1,), (1,), (2,), (2,)]
    assert house.rows(doubled) == [(0,), (2,), (4,)]
    assert house.materialised("numbers") == [
        (None, 3, f"{first.run_id}.numbers"),
        (None, 3, f"{second.run_id}.numbers"),
    ]
    assert (house.folder / "house" / "assets" / "numbers").is_dir()
    assert (house.folder / "house" / "shop" / "doubled").is_dir()


def test_partitions_a_range_and_their_sizes(house: House) -> None:
    @asset(partitions_def=DAYS, backfill_policy=BackfillPolicy.single_run())
    def sales(context: AssetExecutionContext) -> DataFrame:
        rows = [(f"{key}T00:00:00Z", n) for key in context.partition_keys for n in range(int(key[-1]))]
        return frame_of(house.spark, rows, "day timestamp, n long")

    result = house.run(sales, keys=("2023-03-01", "2023-03-03"))
    house.run(sales, partition_key="2023-03-02")

    assert house.rows(sales) == [
        (key, n)
        for key, last in (("2023-03-01", 1), ("2023-03-02", 2), ("2023-03-03", 3))
        for n in range(last)
    ]
    assert [(key, rows) for key, rows, _ in house.materialised("sales")] == [
        ("2023-03-01", 1),
        ("2023-03-02", 2),
        ("2023-03-03", 3),
        ("2023-03-02", 2),
    ]
    assert house.materialised("sales")[0][2].startswith(f"{result.run_id}.sales.2023-03-01...2023-03-03.")


def test_mappings_choose_what_is_read(house: House) -> None:
    hours = HourlyPartitionsDefinition("2023-03-01-00:00")

    @asset(partitions_def=hours, backfill_policy=BackfillPolicy.single_run())
    def hourly(context: AssetExecutionContext) -> DataFrame:
        return frame_of(house.spark, [(key,) for key in context.partition_keys], "hour string")

    @asset(partitions_def=DAYS)
    def daily(hourly: DataFrame) -> DataFrame:
        return hourly.selectExpr("count(*) AS hours")

    @asset(partitions_def=DAYS, ins={"hourly": AssetIn(partition_mapping=AllPartitionMapping())})
    def everything(hourly: DataFrame) -> DataFrame:
        return hourly.selectExpr("count(*) AS hours")

    @asset
    def total(daily: DataFrame) -> DataFrame:
        return daily.selectExpr("sum(hours) AS hours")

    @asset(
        partitions_def=DAYS,
        ins={
            "before": AssetIn(
                "running", partition_mapping=TimeWindowPartitionMapping(start_offset=-1, end_offset=-1)
            )
        },
    )
    def running(before: Any) -> DataFrame:
        known = 0 if before is None else sum(row.n for row in before.collect())
        return frame_of(house.spark, [(known + 1,)], "n long")

    house.run(hourly, keys=("2023-03-01-21:00", "2023-03-02-01:00"))
    for day in ("2023-03-01", "2023-03-02"):
        house.run(daily, hourly, selection=[daily], partition_key=day)
        house.run(running, partition_key=day)
    house.run(everything, hourly, selection=[everything], partition_key="2023-03-01")
    house.run(total, daily, hourly, selection=[total])

    assert house.rows(daily) == [(2, "2023-03-02"), (3, "2023-03-01")]
    assert house.rows(everything) == [(5, "2023-03-01")]
    assert house.rows(total) == [(5,)]
    assert house.rows(running) == [(1, "2023-03-01"), (2, "2023-03-02")]


def test_partitions_of_every_kind(house: House) -> None:
    house.instance.add_dynamic_partitions("customers", ["a/b", "c d"])
    kinds = {
        "part": DynamicPartitionsDefinition(name="customers"),
        "both": MultiPartitionsDefinition({"region": StaticPartitionsDefinition(["n", "s"]), "day": DAYS}),
        "two": MultiPartitionsDefinition(
            {"who": DynamicPartitionsDefinition(name="customers"), "area": StaticPartitionsDefinition(["x"])}
        ),
    }

    @asset(partitions_def=kinds["part"], metadata={"partition_expr": "customer"})
    def part() -> DataFrame:
        return house.spark.range(1).toDF("n")

    @asset(partitions_def=kinds["both"], metadata={"tidegate/write": "merge", "tidegate/merge_keys": ["n"]})
    def both() -> DataFrame:
        return house.spark.range(2).toDF("n")

    @asset(partitions_def=kinds["two"])
    def two() -> DataFrame:
        return house.spark.range(1).toDF("n")

    @asset(partitions_def=DAYS)
    def of_day(both: DataFrame) -> DataFrame:
        return both.groupBy("day").count()

    for key in ("a/b", "c d"):
        house.run(part, partition_key=key)
    house.run(both, partition_key=MultiPartitionKey({"day": "2023-03-01", "region": "n"}))
    house.run(both, partition_key=MultiPartitionKey({"day": "2023-03-01", "region": "n"}))
    house.run(both, partition_key=MultiPartitionKey({"day": "2023-03-01", "region": "s"}))
    house.run(two, partition_key=MultiPartitionKey({"area": "x", "who": "c d"}))
    house.run(of_day, both, selection=[of_day], partition_key="2023-03-01")

    assert house.rows(part) == [(0, "a/b"), (0, "c d")]
    assert house.rows(both) == [(n, "2023-03-01", region) for n in (0, 1) for region in "ns"]
    assert house.rows(two) == [(0, "x", "c d")]
    assert house.rows(of_day) == [("2023-03-01", 4)]
    assert [key for key, _, _ in house.materialised("both")][-1] == "2023-03-01|s"
