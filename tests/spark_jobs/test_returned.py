"""What a program returned instead of frames of Spark: named with its module, beside what is expected."""

import pytest

from tidegate.domain.model import Program
from tidegate.spark_jobs.errors import ProgramError
from tidegate.spark_jobs.programs.program import outputs_of


class Frame:
    """A frame of another library, such as pandas."""

    columns = ("a",)


Frame.__module__ = "pandas.core.frame"
Frame.__qualname__ = "DataFrame"

ROWS = [
    (
        Frame(),
        "p returned pandas.core.frame.DataFrame",
        "pyspark.sql.DataFrame; spark.createDataFrame(...) makes",
    ),
    (
        {"a": Frame()},
        "p returned pandas.core.frame.DataFrame for a",
        "return a pyspark.sql.DataFrame; spark.create",
    ),
    (
        None,
        "p returned None",
        "return a pyspark.sql.DataFrame, or a dictionary from dataset to pyspark.sql.DataFrame",
    ),
    (7, "p returned int", "return a pyspark.sql.DataFrame, or"),
    ({"b": Frame()}, "p returned b", "return exactly the datasets named under `writes`: a"),
    ({}, "p returned nothing", "return exactly the datasets named under `writes`: a"),
    ({"a": None}, "p returned None for a", "return a pyspark.sql.DataFrame"),
]


@pytest.mark.parametrize(("returned", "message", "hint"), ROWS, ids=[row[1] for row in ROWS])
def test_what_was_returned_and_what_is_expected(returned, message, hint):
    with pytest.raises(ProgramError) as caught:
        outputs_of(
            Program(name="p", run="j.p", writes=("a",)), returned, lambda *_: pytest.fail("not a stream")
        )
    assert caught.value.message == f"program {message}"
    assert hint in caught.value.hint
