"""Numbers that are unique and near each other, as a counter gives them: the cheap proof for `unique`.

    64 numbers ──► one word, a bit for each ──► as many bits as rows: each number is there once

Grouping by the number itself moves every row between tasks; words are up to 64 times fewer. Where the proof
fails, rows are grouped by their values (`judge`), which is what decides.
"""

from typing import NamedTuple, cast

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from tidegate.domain.model import UniqueCheck
from tidegate.spark_jobs.checks.conditions import column_of, field_of
from tidegate.spark_jobs.checks.literals import INTEGRAL
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef

WORD_BITS = 64
MANY_ROWS = 100_000
"""From this number of rows on a grouping that moves every row is avoided where it can be."""
FEWER_GROUPS = 4
"""How many rows there are at least for each group of numbers."""


class Spread(NamedTuple):
    """The least and the largest of the numbers of a column, and how many of its rows have one."""

    least: int | None
    most: int | None
    rows: int


def numbers_of(ref: DatasetRef, total: int, columns: StructType) -> dict[str, Column]:
    """Return the columns of whole numbers that are unique alone, of many rows, by name in small letters."""
    alone = [
        check.columns[0] for check in ref.checks if isinstance(check, UniqueCheck) and len(check.columns) == 1
    ]
    return {
        name.lower(): column_of(name, columns).cast("bigint")
        for name in alone
        if total >= MANY_ROWS and isinstance(field_of(name, columns).dataType, INTEGRAL)
    }


def are_distinct_numbers(known: DataFrame, spread: Spread) -> bool:
    """Return whether numbers are near each other, as a counter gives them, and each is there once.

    Then the numbers that fill a word, one bit each, are a group: far fewer groups than rows have to be moved.
    """
    least, most, every = spread
    if least is None or most is None or (most - least) // WORD_BITS > every // FEWER_GROUPS:
        return False
    words = (
        known.toDF("n")
        .select(sf.col("n").cast("bigint"))
        .groupBy(sf.shiftright("n", WORD_BITS.bit_length() - 1))
        .agg(sf.expr(f"bit_or(shiftleft(1L, CAST(n & {WORD_BITS - 1} AS INT)))").alias("bits"))
    )
    return bool(cast(Row, words.agg(sf.sum(sf.bit_count("bits"))).first())[0] == every)
