"""The reader of Parquet files: a file that is missing or damaged is an error, whatever the session says.

Spark can be set to skip such files. Their rows would then vanish without a message, and a watermark or a
merge would count them as read. The options of a reader win over the settings of its session, which a
program may change.
"""

from pyspark.sql import DataFrameReader, SparkSession

SKIPPING = ("ignoreMissingFiles", "ignoreCorruptFiles")
GLOBS = "__globPaths__"
"""Spark's own option: whether paths are patterns. A folder may be called `a[1]` or `{b}`."""


def file_reader(spark: SparkSession) -> DataFrameReader:
    """Return a reader that skips no file, and takes a path as it is."""
    reader = spark.read
    for option in SKIPPING:
        reader = reader.option(option, False)
    return reader.option(GLOBS, False)
