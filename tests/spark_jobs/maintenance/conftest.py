"""What the tests of maintenance share: a yard of tables, new for each test."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.maintenance.yard import Yard


@pytest.fixture
def yard(tmp_path: Path, spark: SparkSession) -> Yard:
    return Yard(tmp_path, spark)
