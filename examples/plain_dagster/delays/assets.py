"""The assets: PySpark and Dagster only, but for the IO manager and the metadata that it reads."""

from dagster import (
    AssetExecutionContext,
    AssetIn,
    AssetOut,
    BackfillPolicy,
    DailyPartitionsDefinition,
    asset,
    multi_asset,
)
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from delays.source import COLUMNS, flights_of
from tidegate import TidegateIOManager

tables = TidegateIOManager(app="delays")

DAYS = DailyPartitionsDefinition("2013-01-01", end_date="2014-01-01")
ONE_RUN = BackfillPolicy.single_run()


@asset(partitions_def=DAYS, backfill_policy=ONE_RUN)
def flights(context: AssetExecutionContext) -> DataFrame:
    """The flights of a day; a range of days is one run and one commit."""
    return tables.spark_session.createDataFrame(list(flights_of(context.partition_keys)), COLUMNS)


@multi_asset(
    outs={
        # A row replaces the one with the same day, origin and carrier.
        "by_carrier": AssetOut(
            metadata={"tidegate/write": "merge", "tidegate/merge_keys": ["origin", "carrier"]}
        ),
        # Rows are added, so one that was published twice would be seen.
        "loads": AssetOut(metadata={"tidegate/write": "append"}),
    },
    ins={"flights": AssetIn("flights")},
    partitions_def=DAYS,
    backfill_policy=ONE_RUN,
)
def summaries(flights: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Two tables of a day, which are published together or not at all."""
    by_carrier = flights.groupBy("day", "origin", "carrier").agg(
        sf.count("*").alias("flights"), sf.sum("dep_delay").alias("minutes_late")
    )
    loads = flights.groupBy("day").agg(sf.count("*").alias("flights"))
    return by_carrier, loads


@asset
def carriers(by_carrier: DataFrame) -> DataFrame:
    """All days of a carrier: the whole table is replaced by each run."""
    return by_carrier.groupBy("carrier").agg(
        sf.sum("flights").alias("flights"), sf.sum("minutes_late").alias("minutes_late")
    )


ASSETS = [flights, summaries, carriers]
