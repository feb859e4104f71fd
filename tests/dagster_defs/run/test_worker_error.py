"""What failed in a Python worker of real Spark: its exception, and its line in the user's code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession, functions

from tests.dagster_defs.run import row_program
from tests.dagster_defs.run.test_failure_text import caught
from tidegate.dagster_defs.run.failure_text import failure_text, in_text, worker_error

pytestmark = pytest.mark.spark

HERE = Path(__file__).parent


def place(function: Callable[..., Any], below: int) -> str:
    return f"(row_program.py:{function.__code__.co_firstlineno + below})"


def written(frame: DataFrame, tmp_path: Path) -> Callable[[], object]:
    return lambda: frame.write.parquet(str(tmp_path / "out"))


@pytest.fixture
def days(spark: SparkSession) -> DataFrame:
    return spark.range(1)


@pytest.mark.parametrize(
    ("function", "said", "below"),
    [
        (row_program.fare_of, "ValueError: no fares of day 0", 1),
        (row_program.parsed, "RuntimeError: bad row", 4),
        (row_program.in_a_library, "json.decoder.JSONDecodeError: Expecting property name", 1),
    ],
)
def test_a_function_of_a_column_that_fails_while_a_table_is_written(
    days: DataFrame, tmp_path: Path, function: Callable[..., Any], said: str, below: int
) -> None:
    frame = days.select(functions.udf(function, "long")("id").alias("fare"))
    text = failure_text(caught(written(frame, tmp_path)), HERE)
    assert text.startswith(said)
    assert text.endswith(place(function, below))


def test_a_function_that_fails_while_rows_are_fetched(days: DataFrame) -> None:
    frame = days.select(functions.udf(row_program.fare_of, "long")("id"))
    assert failure_text(caught(frame.collect), HERE) == (
        f"ValueError: no fares of day 0 {place(row_program.fare_of, 1)}"
    )


def test_a_function_of_an_rdd_and_one_of_batches(days: DataFrame, tmp_path: Path) -> None:
    rows: Any = days.rdd.map(lambda row: row.id)
    for act in (
        rows.map(row_program.fare_of).count,
        written(days.mapInPandas(row_program.batches, "id long"), tmp_path),
    ):
        text = failure_text(caught(act), HERE)
        assert text == f"ValueError: no fares of day 0 {place(row_program.fare_of, 1)}"


def test_what_java_has_thrown_is_said_without_the_call_of_python(days: DataFrame, tmp_path: Path) -> None:
    frame = days.selectExpr("string(assert_true(id > 1, 'too few')) AS checked")
    text = failure_text(caught(written(frame, tmp_path)), HERE)
    assert "too few" in text
    assert "Job aborted" not in text
    assert "An error occurred while calling" not in text


def test_a_trace_of_another_exception_is_not_taken_for_a_workers() -> None:
    text = 'Traceback (most recent call last):\n  File "/a/b.py", line 3, in f\nValueError: x\n'
    assert worker_error(ValueError(text)) is None
    found = in_text(text)
    assert found is not None
    assert (found.line, found.frames) == ("ValueError: x", ((Path("/a/b.py"), 3),))


@pytest.mark.parametrize("text", ["", "no trace", "Traceback (most recent call last):", "x\n" * 1000])
def test_a_text_without_a_whole_trace_holds_none(text: str) -> None:
    assert in_text(text) is None
