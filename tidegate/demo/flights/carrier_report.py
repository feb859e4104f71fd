"""One row for each carrier over all days: number of flights, late flights, and mean delay.

It sums the counts of `delays_by_weather` and divides once, at the end, so the figures do not
depend on the number of days or files. `flights_without_weather` counts the flights of incomplete
rows.
"""

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DoubleType, LongType, StringType, StructType

SCHEMA = (
    StructType()
    .add("carrier", StringType())
    .add("name", StringType())  # the code itself where the airline is not known
    .add("days", LongType())  # days with at least one flight
    .add("flights", LongType())
    .add("cancelled", LongType())
    .add("diverted", LongType())
    .add("departed", LongType())
    .add("late", LongType())
    .add("late_share", DoubleType())  # of the departed, 0 to 1; null when none departed
    .add("mean_dep_delay", DoubleType())  # minutes; null when none departed
    .add("flights_without_weather", LongType())
)


def run(spark: SparkSession, inputs: dict[str, DataFrame | None], params: Any) -> DataFrame:
    """Sum all days by carrier, most flights first.

    `params.args` may have `minimum_flights`, an integer: carriers with fewer flights are left out.
    """
    delays, airlines = inputs["delays_by_weather"], inputs["airlines"]
    if delays is None:
        return spark.createDataFrame([], SCHEMA)
    minimum = int(params.args.get("minimum_flights", 1))
    totals = delays.groupBy("carrier").agg(
        sf.countDistinct("day").alias("days"),
        *(sf.sum(name).alias(name) for name in ("flights", "cancelled", "diverted", "departed", "late")),
        sf.sum("dep_delay_minutes").alias("minutes"),
        sf.sum(sf.when(~sf.col("weather_complete"), sf.col("flights")).otherwise(0)).alias(
            "flights_without_weather"
        ),
    )
    if airlines is None:
        named = totals.withColumn("name", sf.col("carrier"))
    else:
        named = totals.join(airlines.select("carrier", "name"), "carrier", "left").withColumn(
            "name", sf.coalesce("name", "carrier")
        )
    # Division by zero gives null in Spark's default mode.
    report = (
        named.where(sf.col("flights") >= minimum)
        .withColumn("late_share", sf.col("late") / sf.col("departed"))
        .withColumn("mean_dep_delay", sf.col("minutes") / sf.col("departed"))
    )
    columns = [sf.col(field.name).cast(field.dataType).alias(field.name) for field in SCHEMA]
    return report.select(columns).orderBy(sf.col("flights").desc(), "carrier")
