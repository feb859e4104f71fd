"""A catalog can be opened in any thread: sequences are recovered in threads, before all else a run does."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from pyspark.sql import SparkSession

from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog

pytestmark = pytest.mark.spark


def test_the_first_use_of_a_session_may_be_in_a_thread(spark: SparkSession) -> None:
    # A session of its own opens the catalog again, as that of a new process does.
    fresh = spark.newSession()
    with ThreadPoolExecutor(1) as pool:
        catalog = pool.submit(IcebergCatalog, fresh).result()
    assert catalog.names("nobody_has_made_this") == ()
