"""Daily sales: one row for each item, from the orders of all regions.

`inputs` has a DataFrame for each dataset under `reads:`, limited to the partitions of the run. The
returned rows become the output partitions of the run.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf


def run(spark: SparkSession, inputs: Mapping[str, DataFrame], params: Any) -> DataFrame:
    """Return one row for each day and item."""
    return (
        inputs["raw_orders"]
        .groupBy("day", "item")
        .agg(
            sf.sum("quantity").alias("quantity"),
            sf.round(sf.sum(sf.col("quantity") * sf.col("price")), 2).alias("revenue"),
        )
    )
