"""Delays of each airport, hour and carrier, with the weather of that airport and hour.

The rows come from the flights. Without a reading of the hour the weather columns are null and
`weather_complete` is false; a later run of the day replaces the row.
"""

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import BooleanType, DoubleType, IntegerType, LongType, StringType, StructType

LATE_AFTER_MINUTES = 15
"""A flight with a longer departure delay is late; `args.late_after_minutes` overrides this limit."""

MEASURED = ("temp", "wind_speed", "precip", "visib")

SCHEMA = (
    StructType()
    .add("day", StringType())  # local date, the partition
    .add("origin", StringType())
    .add("hour", IntegerType())  # scheduled departure, local hour
    .add("carrier", StringType())
    .add("flights", LongType())  # scheduled
    .add("cancelled", LongType())
    .add("diverted", LongType())
    .add("departed", LongType())  # flown or diverted
    .add("late", LongType())  # departed later than the limit
    .add("dep_delay_minutes", LongType())  # sum over the departed; early ones count negative
    .add("temp", DoubleType())  # degrees Fahrenheit
    .add("wind_speed", DoubleType())  # miles an hour
    .add("precip", DoubleType())  # inches in the hour
    .add("visib", DoubleType())  # miles
    .add("weather_complete", BooleanType())  # false: without a reading for this hour
)


def run(spark: SparkSession, inputs: dict[str, DataFrame | None], params: Any) -> DataFrame:
    """Count the flights of the days and join the available readings.

    `params.args` may have `late_after_minutes`, an integer.
    """
    flights, weather = inputs["clean_flights"], inputs["clean_weather"]
    if flights is None:
        return spark.createDataFrame([], SCHEMA)
    late_after = int(params.args.get("late_after_minutes", LATE_AFTER_MINUTES))
    counted = flights.groupBy("day", "origin", "hour", "carrier").agg(
        sf.count("*").alias("flights"),
        sf.count_if(sf.col("status") == "cancelled").alias("cancelled"),
        sf.count_if(sf.col("status") == "diverted").alias("diverted"),
        sf.count("dep_delay").alias("departed"),
        sf.count_if(sf.col("dep_delay") > late_after).alias("late"),
        sf.coalesce(sf.sum("dep_delay"), sf.lit(0)).alias("dep_delay_minutes"),
    )
    if weather is None:
        joined = counted.withColumn("observed_at", sf.lit(None))
        for name in MEASURED:
            joined = joined.withColumn(name, sf.lit(None))
    else:
        readings = weather.select("day", "origin", "hour", "observed_at", *MEASURED)
        joined = counted.join(readings, ["day", "origin", "hour"], "left")
    marked = joined.withColumn("weather_complete", sf.col("observed_at").isNotNull())
    return marked.select([sf.col(field.name).cast(field.dataType).alias(field.name) for field in SCHEMA])
