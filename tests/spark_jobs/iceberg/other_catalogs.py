"""Sessions with another Iceberg catalog under the same name, for tests that run on several catalogs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from tidegate.spark_jobs.iceberg.runtime import CATALOG


@contextmanager
def other_catalog(spark: SparkSession, options: dict[str, str]) -> Iterator[SparkSession]:
    """A session that has another catalog under the same name."""
    other = spark.newSession()
    prefix = f"spark.sql.catalog.{CATALOG}"
    for name in ("type", "warehouse"):
        other.conf.unset(f"{prefix}.{name}")
    for name, value in options.items():
        other.conf.set(f"{prefix}.{name}", value)
    java: Any = other._jvm
    java.SparkSession.setActiveSession(other._jsparkSession)
    SparkSession._activeSession = other
    try:
        yield other
    finally:
        java.SparkSession.setActiveSession(spark._jsparkSession)
        SparkSession._activeSession = spark


def metastore_options(spark: SparkSession, folder: str) -> dict[str, str]:
    """The options of a Hive metastore in this JVM, on a Derby database in the folder."""
    settings = {
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": f"{folder}/warehouse",
    }
    java: Any = spark._jvm
    java.java.lang.System.setProperty("derby.stream.error.file", f"{folder}/derby.log")
    # A metastore makes its own tables, but not those of its locks: for these it ships a script.
    hive: Any = java.org.apache.hadoop.hive
    conf = hive.conf.HiveConf()
    for name, value in settings.items():
        conf.set(name, value)
    hive.metastore.txn.TxnDbUtil.prepDb(conf)
    return {"type": "hive", "warehouse": f"{folder}/warehouse"} | {
        f"hadoop.{name}": value for name, value in settings.items()
    }
