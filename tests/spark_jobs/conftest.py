"""One Spark session for all Spark tests of a worker process."""

import pytest
from pyspark.sql import SparkSession

from spark_jobs.session import SparkSettings, session


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    return session(SparkSettings(master="local[2]", conf={"spark.driver.memory": "1g"}))
