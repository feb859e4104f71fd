"""One reading for each day, airport and local hour.

On the day on which daylight saving ends the hour from 1 to 2 comes twice, so three
airports report two readings for one local hour. The later one stays: it is nearer to the
flights of the morning, and with the hour of a flight there is no telling which was meant.
A day may be short or missing altogether; nothing is made up for it here.
"""

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as sf
from pyspark.sql.types import DoubleType, IntegerType, StringType, StructType, TimestampType

SCHEMA = (
    StructType()
    .add("day", StringType())  # local date, the partition
    .add("origin", StringType())
    .add("hour", IntegerType())  # local hour 0-23
    .add("observed_at", TimestampType())  # the hour as an instant
    .add("temp", DoubleType())  # degrees Fahrenheit
    .add("dewp", DoubleType())  # dew point, degrees Fahrenheit
    .add("humid", DoubleType())  # relative humidity, per cent
    .add("wind_dir", DoubleType())  # degrees
    .add("wind_speed", DoubleType())  # miles an hour
    .add("wind_gust", DoubleType())  # miles an hour, null when none was measured
    .add("precip", DoubleType())  # inches in the hour
    .add("pressure", DoubleType())  # millibars at sea level
    .add("visib", DoubleType())  # miles
)


def run(spark: SparkSession, inputs: dict[str, DataFrame | None], params: object) -> DataFrame:
    """Types the raw readings and keeps the later one of a doubled hour."""
    raw = inputs["raw_weather"]
    if raw is None:
        return spark.createDataFrame([], SCHEMA)
    typed = raw.withColumn("observed_at", sf.to_timestamp("time_hour")).select(
        [sf.col(field.name).cast(field.dataType).alias(field.name) for field in SCHEMA]
    )
    latest_first = Window.partitionBy("day", "origin", "hour").orderBy(sf.col("observed_at").desc())
    return typed.withColumn("nth", sf.row_number().over(latest_first)).where("nth = 1").drop("nth")
