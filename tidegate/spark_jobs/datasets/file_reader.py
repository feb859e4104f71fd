"""The reader of Parquet files: a file that is missing or damaged is an error, whatever the session says.

Spark can be set to skip such files. Their rows would then vanish without a message, and a watermark or a
merge would count them as read. The options of a reader win over the settings of its session, which a
program may change.
"""

from collections.abc import Iterable
from typing import Any

from pyspark.sql import DataFrame, DataFrameReader, SparkSession

from tidegate.spark_jobs.java.elements import Elements
from tidegate.spark_jobs.java.jvm import java_classes

SKIPPING = ("ignoreMissingFiles", "ignoreCorruptFiles")
GLOBS = "__globPaths__"
"""Spark's own option: whether paths are patterns. A folder may be called `a[1]` or `{b}`."""


def file_reader(spark: SparkSession) -> DataFrameReader:
    """Return a reader that skips no file, and takes a path as it is."""
    reader = spark.read
    for option in SKIPPING:
        reader = reader.option(option, False)
    return reader.option(GLOBS, False)


def rows_at(reader: DataFrameReader, paths: Iterable[str]) -> DataFrame:
    """Return the rows of these files and folders. Each argument of `parquet` would be a call into the JVM."""
    known: Any = reader
    given = Elements(known._spark).list_of(paths)
    to_seq = java_classes(known._spark).org.apache.spark.api.python.PythonUtils.toSeq
    return known._df(known._jreader.parquet(to_seq(given)))
