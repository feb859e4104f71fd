"""The table formats: one line each. A format is loaded when one is first asked for, since it brings Spark."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError

if TYPE_CHECKING:
    from tidegate.spark_jobs.publication.table_format import TableFormat


@cache
def formats() -> "Mapping[str, TableFormat]":
    """The formats by the name that a dataset's declaration gives them."""
    from tidegate.spark_jobs.iceberg.format import IcebergFormat
    from tidegate.spark_jobs.parquet.format import ParquetFormat

    return {"parquet": ParquetFormat(), "iceberg": IcebergFormat()}


def format_of(ref: DatasetRef) -> "TableFormat":
    """The format of a dataset.

    Raises:
        OutputError: this version does not know it.
    """
    known = formats()
    if ref.format not in known:
        raise OutputError(
            f"{ref.name}: this version reads and writes {' and '.join(known)}, got {ref.format}",
            f"write format: {next(iter(known))} in the dataset's declaration",
        )
    return known[ref.format]


def load_steps() -> None:
    """Load the formats' kinds of commit steps: they register themselves when their module is imported."""
    formats()
