"""One typed row for each scheduled flight of the run's days.

It gets the files that are new since its last run and its rows are merged by airport, carrier
and number, so it need not know what was loaded before. The same rows in two files are one.

Raw rows hold no value where nothing happened: a cancelled flight has no departure, a
diverted one departed and has no arrival delay, because it did not arrive where it should.
Both stay, with a status, since a report on delays that leaves them out flatters the airline.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType, StringType, StructType, TimestampType

SCHEMA = (
    StructType()
    .add("day", StringType())  # local date of departure, the partition
    .add("origin", StringType())  # EWR, JFK or LGA
    .add("carrier", StringType())  # two letters, see airlines
    .add("flight", IntegerType())
    .add("tailnum", StringType())  # null where no plane was assigned
    .add("dest", StringType())
    .add("hour", IntegerType())  # scheduled departure, local hour 0-23
    .add("scheduled_at", TimestampType())  # scheduled departure, as an instant
    .add("status", StringType())  # flown, cancelled (no departure) or diverted (no arrival at dest)
    .add("dep_delay", IntegerType())  # minutes, negative when early; null when cancelled
    .add("arr_delay", IntegerType())  # minutes; null unless flown
    .add("air_time", IntegerType())  # minutes; null unless flown
    .add("distance", IntegerType())  # miles
)


def run(spark: SparkSession, inputs: dict[str, DataFrame | None], params: object) -> DataFrame:
    """Types the raw flights of the days and says how each of them ended."""
    raw = inputs["raw_flights"]
    if raw is None:
        return spark.createDataFrame([], SCHEMA)
    status = (
        sf.when(sf.col("dep_time").isNull(), "cancelled")
        .when(sf.col("arr_delay").isNull(), "diverted")
        .otherwise("flown")
    )
    # `time_hour` is the scheduled hour as an instant; it has no minutes.
    scheduled_at = sf.to_timestamp("time_hour") + sf.make_dt_interval(mins=sf.col("minute").cast("int"))
    typed = raw.withColumn("status", status).withColumn("scheduled_at", scheduled_at)
    columns = [sf.col(field.name).cast(field.dataType).alias(field.name) for field in SCHEMA]
    # Files that disagree about a flight stay two rows, which the merge refuses: nobody knows who is right.
    return typed.select(columns).distinct()
