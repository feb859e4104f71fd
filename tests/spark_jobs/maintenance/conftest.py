"""What the tests of maintenance share: a yard of tables, new for each test."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.maintenance.yard import Yard
from tidegate.spark_jobs.maintenance import operation


@pytest.fixture(autouse=True)
def only_the_operation_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a slow machine the thread of the timeout would ask between the questions that a test counts."""
    monkeypatch.setattr(operation, "POLL_SECONDS", 3_600.0)


@pytest.fixture
def yard(tmp_path: Path, spark: SparkSession) -> Yard:
    return Yard(tmp_path, spark)
