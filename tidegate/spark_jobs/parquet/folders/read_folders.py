"""Reads folders of Parquet files as one frame, with the columns of their table.

A column that a file lacks has no values there. A missing or damaged file is an
error, even if the session is set to ignore it: rows must not vanish silently, least of
all in a merge, which writes the rows that it reads.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from tidegate.spark_jobs.datasets.columns import columns_as_written
from tidegate.spark_jobs.datasets.file_reader import file_reader, rows_at

NONE: Mapping[str, str] = {}


def read_folders(
    spark: SparkSession, schema: str, folders: Sequence[str], narrower: Mapping[str, str] = NONE
) -> DataFrame:
    """Return the rows of all these folders.

    Args:
        schema: Spark's JSON of the columns.
        folders: absolute paths of folders that contain files; without folders there are no rows.
        narrower: the columns of folders with narrower types, by path; see `TableVersion.narrower`.
    """
    columns = StructType.fromJson(json.loads(schema))
    if not folders:
        return spark.createDataFrame([], columns)
    alike: dict[str, list[str]] = {}
    for folder in folders:
        alike.setdefault(narrower.get(folder, schema), []).append(folder)
    frames: list[DataFrame] = []
    for own, some in alike.items():
        # Spark does not read a number as one of a wider type, so it is read as it is, and cast.
        typed = columns if own == schema else StructType.fromJson(json.loads(columns_as_written(schema, own)))
        rows = rows_at(file_reader(spark).schema(typed), some)
        frames.append(rows if typed is columns else rows.select(*_cast(typed, columns)))
    return reduce(DataFrame.union, frames)


def _cast(written: StructType, wanted: StructType) -> Iterator[Column]:
    for own, field in zip(written.fields, wanted.fields, strict=True):
        yield sf.col(f"`{own.name}`").cast(field.dataType).alias(field.name)
