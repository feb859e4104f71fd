"""Planes, airlines and airports, typed and with one row for each key.

One run writes all three and publishes them together, so a reader never joins new planes with old
airlines. A table that was never landed is empty.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DoubleType, IntegerType, StringType, StructType

PLANES = (
    StructType()
    .add("tailnum", StringType())
    .add("year", IntegerType())  # of manufacture
    .add("type", StringType())
    .add("manufacturer", StringType())
    .add("model", StringType())
    .add("engines", IntegerType())
    .add("seats", IntegerType())
    .add("speed", IntegerType())  # average cruising speed, miles an hour; nearly always null
    .add("engine", StringType())
)
AIRLINES = StructType().add("carrier", StringType()).add("name", StringType())
AIRPORTS = (
    StructType()
    .add("faa", StringType())
    .add("name", StringType())
    .add("lat", DoubleType())  # degrees
    .add("lon", DoubleType())  # degrees
    .add("alt", IntegerType())  # feet
    .add("tz", IntegerType())  # hours from UTC
    .add("dst", StringType())
    .add("tzone", StringType())
)


def run(spark: SparkSession, inputs: dict[str, DataFrame | None], params: object) -> dict[str, DataFrame]:
    """Return the three landed tables, typed."""
    return {
        "planes": _typed(spark, inputs["raw_planes"], PLANES),
        "airlines": _typed(spark, inputs["raw_airlines"], AIRLINES),
        "airports": _typed(spark, inputs["raw_airports"], AIRPORTS),
    }


def _typed(spark: SparkSession, raw: DataFrame | None, schema: StructType) -> DataFrame:
    if raw is None:
        return spark.createDataFrame([], schema)
    columns = [sf.col(field.name).cast(field.dataType).alias(field.name) for field in schema]
    # The first column is the key. It is unique in the source, but not in a feed landed twice.
    return raw.select(columns).dropDuplicates([schema[0].name])
