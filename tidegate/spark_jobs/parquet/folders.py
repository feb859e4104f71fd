"""Reads folders of Parquet files as one frame, with the columns of the table they belong to.

A column that a file lacks has no values there. A file that is missing or damaged is an
error, whatever the session is set to pass over: rows must not vanish silently, least of
all where what was read is written again.
"""

import json
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType


def read_folders(spark: SparkSession, schema: str, folders: Sequence[str]) -> DataFrame:
    """The rows of all these folders.

    Args:
        schema: Spark's JSON of the columns.
        folders: absolute paths, each of a folder with files in it; no rows when there is none.
    """
    columns = StructType.fromJson(json.loads(schema))
    if not folders:
        return spark.createDataFrame([], columns)
    reader = (
        spark.read.schema(columns).option("ignoreMissingFiles", False).option("ignoreCorruptFiles", False)
    )
    return reader.parquet(*folders)
