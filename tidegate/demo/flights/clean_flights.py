"""One typed row for each scheduled flight of the run's days.

It reads only files that are new since its last run, and its rows are merged by airport, carrier
and number, so it does not depend on earlier loads. Equal rows in two files count once.

Raw values are null for events that did not happen: a cancelled flight has no departure, and a
diverted flight has a departure but no arrival delay, because it did not arrive at its destination.
Both are kept, with a status, since a delay report without them would favour the airline.
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
    """Return the typed flights of the days with their status."""
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
    # Files that disagree about a flight give two rows, and the merge refuses duplicates.
    return typed.select(columns).distinct()
