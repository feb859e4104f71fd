"""One reading for each day, airport and local hour.

On the day on which daylight saving time ends, the hour from 1 to 2 occurs twice, so three airports
report two readings for one local hour. The later one is kept: it is nearer to the morning flights,
and the local hour of a flight does not tell which of the two hours it is. A day may be short or
missing; no readings are filled in. All readings as they came are appended to `weather_log`, with each run's
few in files of their own: a table that needs maintenance.
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

LOG_FILES = 6
"""Files of the log for each run, as a feed of many small deliveries leaves them."""


def run(spark: SparkSession, inputs: dict[str, DataFrame | None], params: object) -> dict[str, DataFrame]:
    """Return the typed readings, with the later one of a repeated hour, and all of them for the log."""
    raw = inputs["raw_weather"]
    if raw is None:
        nothing = spark.createDataFrame([], SCHEMA)
        return {"clean_weather": nothing, "weather_log": nothing}
    typed = raw.withColumn("observed_at", sf.to_timestamp("time_hour")).select(
        [sf.col(field.name).cast(field.dataType).alias(field.name) for field in SCHEMA]
    )
    latest_first = Window.partitionBy("day", "origin", "hour").orderBy(sf.col("observed_at").desc())
    latest = typed.withColumn("nth", sf.row_number().over(latest_first)).where("nth = 1").drop("nth")
    return {"clean_weather": latest, "weather_log": typed.repartition(LOG_FILES)}
