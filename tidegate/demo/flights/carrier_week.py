"""One row for each week and carrier: the flights of the days of that week, which begins on Sunday."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import LongType, StringType, StructType

SCHEMA = (
    StructType()
    .add("week", StringType())  # its first day, the partition
    .add("carrier", StringType())
    .add("flights", LongType())
)


def run(spark: SparkSession, inputs: dict[str, DataFrame | None], params: Any) -> DataFrame:
    """Count the flights of the business week by carrier."""
    flights = inputs["clean_flights"]
    if flights is None:
        return spark.createDataFrame([], SCHEMA)
    (week,) = params.partitions
    counted = flights.groupBy("carrier").agg(sf.count("*").alias("flights"))
    return counted.select(sf.lit(week).alias("week"), "carrier", "flights")
