"""A session as good as new, for a process that executes one run after the other on one Spark.

Undone: running jobs, streams, cached tables and frames, temporary views of both kinds, properties of the
session, properties of jobs. What a program has changed in the Spark context itself cannot be undone: the
options of Hadoop, files and jars, tables and functions of the catalog in memory. Where that has happened,
only a new process is as good as new.
"""

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from tidegate.spark_jobs.java import jvm
from tidegate.spark_jobs.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_DATABASE = "default"


class Shared(NamedTuple):
    """What all sessions of a Spark context share, and no session can set back."""

    hadoop: int
    files: int
    jars: int
    databases: int
    tables: int
    functions: int


def shared_by_sessions(spark: "SparkSession") -> Shared:
    """Return what the sessions of a Spark context share."""
    context: Any = spark.sparkContext._jsc
    java: Any = spark._jsparkSession
    catalog = java.sharedState().externalCatalog()
    return Shared(
        hadoop=context.hadoopConfiguration().getPropsWithPrefix("").hashCode(),
        files=context.sc().listFiles().size(),
        jars=context.sc().listJars().size(),
        databases=catalog.listDatabases().size(),
        tables=catalog.listTables(DEFAULT_DATABASE).size(),
        functions=catalog.listFunctions(DEFAULT_DATABASE, "*").size(),
    )


class Renewal:
    """The renewal of the sessions of this process, which must not have one yet."""

    def __init__(self) -> None:
        self._shared: Shared | None = None
        session.started_hooks[:] = [self.note]

    def renew(self) -> bool:
        """Give the next run a session as good as new, if there is one; return whether that was possible."""
        known = session.sessions.get(os.getpid())
        if jvm.has_ended():
            return False
        if known is None:
            return True
        # A stopped context has no `_jsc`; PySpark has no public API for that.
        if known.sparkContext._jsc is None:
            return False
        _end_work(known)
        if shared_by_sessions(known) != self._shared:
            return False
        session.replace(known.newSession())
        return True

    def note(self, spark: "SparkSession") -> None:
        """Remember what the sessions of a Spark share that no program has used yet."""
        self._shared = shared_by_sessions(spark)


def _end_work(spark: "SparkSession") -> None:
    context: Any = spark.sparkContext
    context.cancelAllJobs()
    for query in spark.streams.active:
        query.stop()
    spark.catalog.clearCache()
    for kept in dict(context._jsc.getPersistentRDDs()).values():
        kept.unpersist()
    context._jsc.sc().setLocalProperties(context._jvm.java.util.Properties())
    java: Any = spark._jsparkSession
    java.sharedState().globalTempViewManager().clear()
