"""A program, and its test: it gets DataFrames and returns one, so it needs a Spark session and nothing else.

Run it as `pytest examples/test_program.py`.
"""

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

# --- the program, which is a file of its own under programs/ ----------------------------


def run(spark: SparkSession, inputs: Mapping[str, DataFrame], params: Any) -> DataFrame:
    """Return the flights that left too late."""
    return inputs["clean_flights"].where(f"dep_delay > {int(params.args['late_after_minutes'])}")


# --- its test ---------------------------------------------------------------------------


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session that all tests share, since starting one takes seconds."""
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    yield session
    session.stop()


def test_flights_are_late_after_the_minutes_of_the_schedule(spark: SparkSession) -> None:
    flights = spark.createDataFrame(
        [("2013-12-22", "AA1", 15), ("2013-12-22", "AA2", 16)], "day string, flight string, dep_delay int"
    )
    # `tidegate run` and the engine give the same attributes: docs/programs.md has all of them.
    params = SimpleNamespace(args={"late_after_minutes": 15}, partitions=("2013-12-22",))

    late = run(spark, {"clean_flights": flights}, params)

    assert [row.flight for row in late.collect()] == ["AA2"]
