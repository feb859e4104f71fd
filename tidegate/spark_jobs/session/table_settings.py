"""The settings that tables depend on, for the duration of a block, in a session that a user has started.

Tidegate's own session has them from its start (`session.py`). In a user's session they are set while Tidegate
reads or writes, and set back afterwards. The plan of a frame that the user's code has made keeps the
time zone that it was made with.
"""

from collections.abc import Generator
from contextlib import contextmanager

from pyspark.sql import SparkSession

SETTINGS = {
    # Instants are spelled as partition keys starting from UTC.
    "spark.sql.session.timeZone": "UTC",
    # Names are compared in any case.
    "spark.sql.caseSensitive": "false",
    # Nanoseconds are read as numbers, of which microseconds are made.
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    # Partition keys are strings.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # INT96, Spark's default, is refused by Iceberg and by other readers.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # A skipped file is lost rows.
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
}


@contextmanager
def table_settings(spark: SparkSession) -> Generator[None, None, None]:
    """Give a session the settings that tables depend on, for the duration of a block."""
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    try:
        for name, value in SETTINGS.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)
