"""A catalog can be opened in any thread: sequences are recovered in threads, before all else a run does."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, catalog_of

pytestmark = pytest.mark.spark


def test_the_first_use_of_a_session_may_be_in_a_thread(spark: SparkSession) -> None:
    # A session of its own opens the catalog again, as that of a new process does.
    fresh = spark.newSession()
    with ThreadPoolExecutor(1) as pool:
        catalog = pool.submit(IcebergCatalog, fresh).result()
    assert catalog.names("nobody_has_made_this") == ()


def test_long_answers_are_not_held_back_in_any_thread(spark: SparkSession) -> None:
    def sends_at_once() -> bool:
        gateway: Any = spark.sparkContext._gateway
        connection = gateway.java_gateway_server.getCallbackClient().getPerThreadConnection()
        return bool(connection.getSocket().getTcpNoDelay())

    def before_and_after() -> tuple[bool, bool]:
        before = sends_at_once()
        catalog_of(spark)
        return before, sends_at_once()

    # This thread has started the session.
    assert sends_at_once()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(before_and_after).result() == (False, True)
