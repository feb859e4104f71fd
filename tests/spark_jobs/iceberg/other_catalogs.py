"""Sessions with another Iceberg catalog under the same name, for tests that run on several catalogs."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tidegate.domain.model.dataset import CATALOG


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


H2_PLACES = (".m2/repository/com/h2database/h2/*/h2-*.jar", ".ivy2*/jars/com.h2database_h2-*.jar")
"""Where Maven and Spark keep what they have downloaded, in the home folder."""


@cache
def h2_jar() -> Path | None:
    """The jar of H2, a database with a JDBC driver, where this machine has one."""
    found = (file for place in H2_PLACES for file in sorted(Path.home().glob(place)))
    return next(found, None)


JDBC = ("jdbc",) if h2_jar() else ()
"""The JDBC catalog, where it has a database."""


def jdbc_options(spark: SparkSession, folder: str) -> dict[str, str]:
    """The options of Iceberg's JDBC catalog, on a database of H2 in the memory of this JVM; see `h2_jar`."""
    java: Any = spark._jvm
    context: Any = spark.sparkContext
    jar = h2_jar()
    assert jar is not None
    urls = context._gateway.new_array(java.java.net.URL, 1)
    urls[0] = java.java.io.File(str(jar)).toURI().toURL()
    thread = java.java.lang.Thread.currentThread()
    before = thread.getContextClassLoader()
    # Spark registers a driver that Java's own loader does not know.
    thread.setContextClassLoader(java.java.net.URLClassLoader(urls, before))
    try:
        java.org.apache.spark.sql.execution.datasources.jdbc.DriverRegistry.register("org.h2.Driver")
    finally:
        thread.setContextClassLoader(before)
    database = f"jdbc:h2:mem:{Path(folder).name};DB_CLOSE_DELAY=-1;MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE"
    return {"type": "jdbc", "uri": database}
