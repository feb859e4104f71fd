"""The partition columns of an output: strings formatted like keys, and none twice."""

import pytest
from pyspark.sql import SparkSession

from tidegate.domain.model import PartitionScheme, StaticDimension, TimeDimension
from tidegate.spark_jobs.datasets.column_names import refuse_names
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.datasets.partition_columns import with_partition_columns
from tidegate.spark_jobs.errors import OutputError

pytestmark = pytest.mark.spark

DAY = TimeDimension(name="day", cycle="day", start="2013-01-01")
REF = DatasetRef(
    app="a",
    name="t",
    scheme=PartitionScheme(time=DAY, static=StaticDimension(name="code", keys=("x", "7"))),
)


def test_a_string_stays_and_other_types_become_one(spark: SparkSession) -> None:
    made = spark.sql(
        "SELECT 'x' code, DATE '2013-12-22' day, 1 id UNION ALL SELECT '7', DATE '2013-12-23', 2"
    )

    rows = with_partition_columns(made, REF, ("2013-12-22|x", "2013-12-23|7"))

    assert rows.dtypes == [("code", "string"), ("day", "string"), ("id", "int")]
    assert sorted(map(tuple, rows.collect())) == [("7", "2013-12-23", 2), ("x", "2013-12-22", 1)]


def test_a_frame_of_strings_is_written_as_it_is(spark: SparkSession) -> None:
    made = spark.sql("SELECT 'x' code, '2013-12-22' day")

    assert with_partition_columns(made, REF, ("2013-12-22|x",)) is made


def test_a_column_that_is_there_in_two_spellings_is_refused(spark: SparkSession) -> None:
    made = spark.sql("SELECT 'x' code, '2013-12-22' day, '2013-12-23' DAY")

    with pytest.raises(OutputError, match="the columns day and DAY, which are one name to Spark"):
        refuse_names(REF, made)
