"""A Dagster project with tables for the tests of the IO manager."""

from pathlib import Path

import pytest
from dagster import DagsterInstance
from pyspark.sql import SparkSession

from tests.dagster_defs.io_manager.house import House


@pytest.fixture
def house(tmp_path: Path, instance: DagsterInstance, spark: SparkSession) -> House:
    """A project without tables."""
    return House(tmp_path, instance, spark)
