"""The settings of a session that tables depend on, in a session that a user has started.

Tidegate's own session has them from its start (`session.py`), so only what reads and writes in a session of
others needs this: the IO manager.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidegate.domain.spark_conf import FIXED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE_SETTINGS: Mapping[str, str] = {
    **{name: value for name, value in FIXED.items() if name.startswith("spark.sql.")},
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
"""The settings that tables depend on, as far as a session that was started can change them."""


@contextmanager
def table_settings(spark: "SparkSession") -> Generator[None, None, None]:
    """Give a session that a user has started the settings that tables depend on, while a block runs.

    They are set while Tidegate reads or writes, and set back afterwards. The plan of a frame that the user's
    code has made keeps the time zone that it was made with.
    """
    before = {name: spark.conf.get(name, None) for name in TABLE_SETTINGS}
    try:
        for name, value in TABLE_SETTINGS.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)
