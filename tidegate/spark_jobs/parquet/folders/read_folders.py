"""Reads folders of Parquet files as one frame, with the columns of their table.

A column that a file lacks has no values there. A missing or damaged file is an
error, even if the session is set to ignore it: rows must not vanish silently, least of
all in a merge, which writes the rows that it reads.
"""

import json
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from tidegate.spark_jobs.datasets.file_reader import file_reader


def read_folders(spark: SparkSession, schema: str, folders: Sequence[str]) -> DataFrame:
    """Return the rows of all these folders.

    Args:
        schema: Spark's JSON of the columns.
        folders: absolute paths of folders that contain files; without folders there are no rows.
    """
    columns = StructType.fromJson(json.loads(schema))
    if not folders:
        return spark.createDataFrame([], columns)
    return file_reader(spark).schema(columns).parquet(*folders)
