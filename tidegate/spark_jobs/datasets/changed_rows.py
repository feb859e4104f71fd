"""Whether the rows with some keys are the same in two states of a table.

A merge replaces rows by their keys. If a row with one of its keys has appeared, changed or vanished since
the run began, the run has not read it, and merging over it would lose it. Whole rows are compared as text,
so rewritten files do not matter, and any type of column can be compared.
"""

from collections.abc import Sequence
from functools import reduce
from operator import and_

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

ROW, SIDE = "__tidegate_row", "__tidegate_side"


def is_never_computed(error: Exception) -> bool:
    """Return whether a query fails at every try, because of its types; a file or table may come back."""
    name = error.getErrorClass() if isinstance(error, AnalysisException) else None
    return (name or "").startswith(("DATATYPE_MISMATCH", "UNSUPPORTED_FEATURE"))


def rows_differ(before: DataFrame | None, now: DataFrame | None, keys: DataFrame) -> bool:
    """Return whether the rows with these keys differ; a column that a state lacks has no values there.

    Args:
        before: the earlier state; None for no rows.
        now: the later state; None for no rows.
        keys: the keys, with only the columns that identify a row; missing values are equal to each other.
    """
    sides = [_rows(frame, keys, side) for frame, side in ((before, -1), (now, 1)) if frame is not None]
    if not sides:
        return False
    both = reduce(DataFrame.unionByName, sides)
    return bool(both.groupBy(ROW).agg(sf.sum(SIDE).alias(SIDE)).where(f"{SIDE} != 0").take(1))


def _rows(frame: DataFrame, keys: DataFrame, side: int) -> DataFrame:
    """Return each row with one of the keys as text, without its missing values."""
    same = reduce(and_, matching(frame, keys, keys.columns))
    columns = sorted(frame.columns, key=str.lower)
    text = sf.to_json(sf.struct(*(sf.col(f"`{column}`").alias(column.lower()) for column in columns)))
    return frame.join(keys, same, "left_semi").select(text.alias(ROW), sf.lit(side).alias(SIDE))


def matching(frame: DataFrame, keys: DataFrame, columns: Sequence[str]) -> list[Column]:
    """Return the conditions under which a row has the key columns of `keys`; a missing column is null."""
    known = {column.lower() for column in frame.columns}
    own = [frame[f"`{c}`"] if c.lower() in known else sf.lit(None) for c in columns]
    return [mine.eqNullSafe(keys[f"`{c}`"]) for mine, c in zip(own, columns, strict=True)]
