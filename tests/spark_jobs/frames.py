"""Frames of a few rows, for tests."""

import json
import re
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

NAME = re.compile(r"(?:^|,)\s*(\w+)\s")


def frame_of(spark: SparkSession, rows: Sequence[Sequence[object]], columns: str) -> DataFrame:
    """Return some rows of texts and numbers as a frame that may have nulls in each column.

    The JVM makes it from JSON. `createDataFrame` hands the rows over by a Python worker, each time that they
    are read, which costs more than most of what tests do with them.
    """
    names = NAME.findall(columns)
    text = json.dumps([dict(zip(names, row, strict=True)) for row in rows])
    parsed = sf.from_json(sf.lit(text), f"array<struct<{columns}>>", {"mode": "FAILFAST"})
    return spark.range(1).select(sf.inline(parsed))
