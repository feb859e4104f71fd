"""The readings of one hour at all three airports, cut out of the day of weather that contains it."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DoubleType, StringType, StructType

SCHEMA = (
    StructType()
    .add("hour", StringType())  # the partition
    .add("origin", StringType())
    .add("temp", DoubleType())  # degrees Fahrenheit
    .add("wind_speed", DoubleType())  # miles an hour
    .add("precip", DoubleType())  # inches in the hour
)


def run(spark: SparkSession, inputs: dict[str, DataFrame | None], params: Any) -> DataFrame:
    """Return the readings of the business hour. A doubled hour has one reading in `clean_weather`."""
    weather = inputs["clean_weather"]
    if weather is None:
        return spark.createDataFrame([], SCHEMA)
    (key,) = params.partitions
    of_hour = (sf.col("day") == key[:10]) & (sf.col("hour") == int(key[11:13]))
    return weather.where(of_hour).select(
        sf.lit(key).alias("hour"), *(sf.col(field.name) for field in SCHEMA if field.name != "hour")
    )
