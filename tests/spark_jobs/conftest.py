"""One Spark session for all Spark tests of a worker process."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs.iceberg_runtime import IcebergSettings
from spark_jobs.session import SparkSettings, session


@pytest.fixture(scope="session")
def iceberg_warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the Iceberg catalog that all tests of a worker share; each uses an app of its own."""
    return tmp_path_factory.mktemp("iceberg house")


@pytest.fixture(scope="session")
def spark(iceberg_warehouse: Path) -> SparkSession:
    return session(
        SparkSettings(
            master="local[1]",
            conf={"spark.driver.memory": "1g"},
            iceberg=IcebergSettings(warehouse=str(iceberg_warehouse)),
        )
    )
