"""What an executor says of its versions, beside those of the driver. A cluster is asked in `cluster/`."""

import platform
from types import SimpleNamespace
from typing import Any

import pytest

from tidegate.spark_jobs.errors import ClusterRefused
from tidegate.spark_jobs.session import executors

MASTER = "spark://host:7077"
PYTHON = platform.python_version()
PYTHON_MINOR = PYTHON.rpartition(".")[0]


@pytest.fixture
def spark() -> Any:
    """A driver."""
    return SimpleNamespace(version="3.5.9")


@pytest.mark.parametrize(
    ("spark_there", "python_there", "refusal", "hint"),
    [
        ("3.5.9", PYTHON, "", ""),
        ("3.5.6", f"{PYTHON_MINOR}.99", "", ""),
        (
            "3.4.1",
            PYTHON,
            f"the executors of {MASTER} have Spark 3.4.1, and the driver has Spark 3.5.9",
            "3.5",
        ),
        ("3.5.9", "3.9.1", f"the executors of {MASTER} have Python 3.9.1, and the driver has", PYTHON_MINOR),
    ],
)
def test_another_spark_or_python_is_refused_and_another_patch_of_it_is_not(
    spark: Any,
    monkeypatch: pytest.MonkeyPatch,
    spark_there: str,
    python_there: str,
    refusal: str,
    hint: str,
) -> None:
    monkeypatch.setattr(executors, "_asked", lambda _spark, _python: (spark_there, python_there))
    monkeypatch.setattr("pyspark.sql.functions.udf", lambda function: function)

    if not refusal:
        executors.check_executors(spark, MASTER)
        return
    with pytest.raises(ClusterRefused, match=refusal) as refused:
        executors.check_executors(spark, MASTER)
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    ("says", "refusal"),
    [
        (
            "RuntimeError: Python in worker has different version: 3.9 than that in driver: 3.11",
            "have Python 3.9",
        ),
        ("java.io.InvalidClassException: org.apache.spark.X; local class incompatible", "have another Spark"),
        ("org.apache.spark.SparkException: no space left", "no task runs on spark://host:7077"),
    ],
)
def test_a_task_that_fails_says_what_differs(says: str, refusal: str) -> None:
    assert refusal in executors._refusal(says, "3.5.9", MASTER).message
