"""Iceberg's cache of tables that a Spark query names by a key, although no catalog has them.

Iceberg's own procedures use it to write data files which their caller commits, or does not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession


def table_cache(java: Any, spark: SparkSession) -> Any:
    """Return the cache, which is one for all sessions of a JVM.

    Args:
        java: the root of the JVM's packages.
    """
    # It has another method of this name, so that Py4J does not find the static one. Where Spark has loaded
    # Iceberg itself, Java's own class loader does not know it.
    gateway: Any = spark.sparkContext._gateway
    loader = java.org.apache.iceberg.spark.FileRewriteCoordinator.get().getClass().getClassLoader()
    cache = java.java.lang.Class.forName("org.apache.iceberg.spark.SparkTableCache", True, loader)
    get = cache.getMethod("get", gateway.new_array(java.java.lang.Class, 0))
    return get.invoke(None, gateway.new_array(java.java.lang.Object, 0))


@contextmanager
def cached_table(cache: Any, key: str, table: Any) -> Iterator[None]:
    """Let queries name a table by a key.

    Args:
        cache: from `table_cache`.
        key: unique in the JVM.
        table: Iceberg's table, which need not be in a catalog.
    """
    cache.add(key, table)
    try:
        yield
    finally:
        cache.remove(key)
