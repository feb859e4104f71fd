"""One row for each day and airport: the flights of the day and how many of them were cancelled."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import LongType, StringType, StructType

SCHEMA = (
    StructType()
    .add("day", StringType())  # local date, the partition
    .add("origin", StringType())
    .add("flights", LongType())
    .add("cancelled", LongType())
)


def run(spark: SparkSession, inputs: dict[str, DataFrame | None], params: object) -> DataFrame:
    """Count the flights of the business date by airport."""
    flights = inputs["clean_flights"]
    if flights is None:
        return spark.createDataFrame([], SCHEMA)
    return flights.groupBy("day", "origin").agg(
        sf.count("*").alias("flights"),
        sf.sum((sf.col("status") == "cancelled").cast("long")).alias("cancelled"),
    )
