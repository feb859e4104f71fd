"""The registry of table formats, one line each. They are imported on first use, since they import Spark."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError, needs_spark

if TYPE_CHECKING:
    from tidegate.spark_jobs.publication.table_format import TableFormat


@cache
def formats() -> "Mapping[str, TableFormat]":
    """Return the formats by their name in a dataset's declaration.

    Raises:
        SparkMissing: Spark is not installed.
    """
    with needs_spark():
        from tidegate.spark_jobs.iceberg.format import IcebergFormat
        from tidegate.spark_jobs.parquet.format import ParquetFormat

    return {"parquet": ParquetFormat(), "iceberg": IcebergFormat()}


def format_of(ref: DatasetRef) -> "TableFormat":
    """Return the format of a dataset.

    Raises:
        OutputError: this version does not support the format.
    """
    known = formats()
    if ref.format not in known:
        raise OutputError(
            f"{ref.name}: this version supports the formats {' and '.join(known)}, got {ref.format}",
            f"write format: {next(iter(known))} in the dataset's declaration",
        )
    return known[ref.format]


def load_steps() -> None:
    """Load the formats' kinds of commit steps: they register themselves when their module is imported."""
    formats()
