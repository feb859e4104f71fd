"""One row for each month and airport: the sums of the daily totals of that month."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import LongType, StringType, StructType

SCHEMA = (
    StructType()
    .add("month", StringType())  # its first day, the partition
    .add("origin", StringType())
    .add("days", LongType())
    .add("flights", LongType())
    .add("cancelled", LongType())
)


def run(spark: SparkSession, inputs: dict[str, DataFrame | None], params: Any) -> DataFrame:
    """Sum the days of the business month by airport."""
    totals = inputs["daily_totals"]
    if totals is None:
        return spark.createDataFrame([], SCHEMA)
    (month,) = params.partitions
    summed = totals.groupBy("origin").agg(
        sf.countDistinct("day").alias("days"),
        sf.sum("flights").alias("flights"),
        sf.sum("cancelled").alias("cancelled"),
    )
    return summed.select(sf.lit(month).alias("month"), "origin", "days", "flights", "cancelled")
