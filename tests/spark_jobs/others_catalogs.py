"""The Iceberg catalogs in which tests let others write."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.iceberg.other_catalogs import jdbc_options, metastore_options
from tests.spark_jobs.iceberg.rest_catalog import RestCatalog

Catalogs = Callable[[str], tuple[dict[str, str], str]]


@pytest.fixture(scope="module")
def catalogs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogs]:
    """The options of each catalog, and the folder of its tables; it is started when it is asked for."""
    with ExitStack() as servers:

        @cache
        def started(name: str) -> tuple[dict[str, str], str]:
            folder = str(tmp_path_factory.mktemp(name))
            if name == "rest":
                server = RestCatalog(spark, folder)
                servers.callback(server.close)
                return {"type": "rest", "uri": server.uri}, folder
            if name == "jdbc":
                return jdbc_options(spark, folder), folder
            return ({"type": "hadoop"} if name == "hadoop" else metastore_options(spark, folder)), folder

        yield started
