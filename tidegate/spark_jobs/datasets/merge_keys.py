"""Checks the merge keys of an output: the columns must exist and identify each row uniquely.

The same for every format. Two rows with equal keys would make the result
undefined, so they are refused before anything is published.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError

SHOWN_ROWS = 5
"""How many repeated merge keys a message shows."""


def key_columns(ref: DatasetRef) -> tuple[str, ...]:
    """Return the columns that identify a row. Missing values are equal to each other."""
    return tuple(dict.fromkeys((*ref.dimensions(), *ref.merge_keys)))


def refuse_missing(ref: DatasetRef, frame: DataFrame) -> None:
    """Raise OutputError when the output lacks one of the merge keys."""
    have = {column.lower() for column in frame.columns}
    missing = [column for column in ref.merge_keys if column.lower() not in have]
    if missing:
        raise OutputError(
            f"{ref.name}: the program's output has no column {', '.join(missing)}, which is a merge key",
            "return the column, or change merge_keys of the dataset",
        )


def refuse_repeated(ref: DatasetRef, staged: DataFrame) -> None:
    """Raise OutputError when two rows have the same keys.

    Args:
        staged: the output as it was written, so that the program's plan does not run again.
    """
    names = key_columns(ref)
    columns = [sf.col(f"`{name}`") for name in names]
    repeated = staged.groupBy(*columns).count().where("count > 1").limit(SHOWN_ROWS).collect()
    if repeated:
        shown = "; ".join(", ".join(f"{name}={row[name]}" for name in names) for row in repeated)
        raise OutputError(
            f"{ref.name}: the program returned several rows with the same merge keys: {shown}",
            "return one row for each, or add a column to merge_keys",
        )
