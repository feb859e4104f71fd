"""A source of the user's own, as a test app's `incremental:` names it, and a program.

What the source holds and what was asked of it is in module variables, which the tests set.
"""

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tests.spark_jobs.frames import frame_of

COLUMNS = "id long, day string"

ORDERS: dict[str, list[str]] = {}
"""The day of each order, by part; an order is numbered by its place."""
ASKED: list[dict[str, tuple[Any, Any]]] = []
"""The ranges that were read."""
SEEN: list[int | None] = []
"""The number of rows that each call of the program was given."""
MEANWHILE: list[Callable[[], object]] = []
"""What happens in the middle of the next calls of the program."""


def newest(spark: SparkSession, params: Any) -> dict[str, int]:
    """How many orders there are."""
    return {part: len(orders) for part, orders in ORDERS.items()}


def read(spark: SparkSession, params: Any, ranges: Mapping[str, Any]) -> DataFrame:
    """The orders of some ranges."""
    ASKED.append({part: (one.after, one.upto) for part, one in ranges.items()})
    rows = [
        (number, ORDERS[part][number])
        for part, one in ranges.items()
        for number in range(one.after or 0, one.upto)
    ]
    return frame_of(spark, rows, COLUMNS)


def copied(spark: SparkSession, inputs: Mapping[str, DataFrame | None], params: Any) -> DataFrame:
    """A program: its only input as it is; no rows where nothing was ever there."""
    (frame,) = inputs.values()
    SEEN.append(None if frame is None else frame.count())
    if MEANWHILE:
        MEANWHILE.pop()()
    return frame_of(spark, [], COLUMNS) if frame is None else frame.select("id", "day")
