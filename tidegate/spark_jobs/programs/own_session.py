"""A session of a program's own, and the way of its frames back to the session that publishes.

    session of the process ──clone──► session of the program      settings, views, current catalog: its own
            ▲                                  │
            └───── the plans of its outputs ◄──┘                  staged under the settings of the process

Tidegate reads, stages and publishes in the session of the process, which no program gets: so `SET TIME ZONE`
in a program moves no row into another partition, and the next program finds nothing of it. A plan keeps what
it was analysed with (time zones, ANSI casts, views). While it is executed, the session has the program's
other settings too, such as the number of partitions of a shuffle.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.spark_conf import CATALOGS, FIXED
from tidegate.spark_jobs.errors import ProgramError
from tidegate.spark_jobs.java.jvm import of_plan

OURS = frozenset(FIXED) | {
    "spark.sql.ansi.enabled",
    "spark.sql.charAsVarchar",
    "spark.sql.defaultCatalog",
    "spark.sql.files.maxRecordsPerFile",
    "spark.sql.legacy.charVarcharAsString",
    "spark.sql.parquet.binaryAsString",
    "spark.sql.parquet.fieldId.read.enabled",
    "spark.sql.parquet.fieldId.write.enabled",
    "spark.sql.parquet.inferTimestampNTZ.enabled",
    "spark.sql.parquet.int96AsTimestamp",
    "spark.sql.parquet.mergeSchema",
    "spark.sql.parquet.output.committer.class",
    "spark.sql.parquet.outputTimestampType",
    "spark.sql.parquet.writeLegacyFormat",
    "spark.sql.readSideCharPadding",
    "spark.sql.sources.commitProtocolClass",
    "spark.sql.sources.partitionOverwriteMode",
    "spark.sql.storeAssignmentPolicy",
}
"""What decides where rows go and how files are written; a program's other settings serve its own plan."""
CANNOT_WRITE = "tidegate.a_check_cannot_write"
"""In place of a class that a write needs: Spark names it in its message."""
NO_COMMITTER = "org.apache.spark.internal.io.FileCommitProtocol"
"""The same for committers of files, which newer versions of Spark load when they are set. It is abstract."""
BY_PATH = ("default_iceberg", "default_cache_iceberg")
"""The catalogs that Iceberg adds to a session which names a table by its folder."""
OUR_PREFIXES = (CATALOGS, "spark.sql.iceberg.", "spark.wap.", "mapreduce.", "fs.defaultFS")


@contextmanager
def program_session(shared: SparkSession) -> Iterator[SparkSession]:
    """Give a program a session of its own, which is the active one while a block runs."""
    java: Any = shared._jsparkSession
    own = SparkSession(shared.sparkContext, java.cloneSession())
    _activate(own)
    try:
        yield own
    finally:
        # Of a JVM that has ended, the error is that of the program.
        with suppress(Py4JError):
            if not _has_stopped(shared):
                _activate(shared)
                java.sharedState().globalTempViewManager().clear()


def refuse_stopped(spark: SparkSession) -> None:
    """Raise ProgramError if a program has stopped Spark, which has its outputs to publish."""
    if _has_stopped(spark):
        raise ProgramError(
            "the program has stopped Spark, which publishes its outputs",
            "remove spark.stop() from the program; the session ends with the run",
        )


def refuse_writes(own: SparkSession) -> None:
    """Take from a session what writes need: the committer of files, and the catalogs of tables."""
    own.conf.set("spark.sql.sources.commitProtocolClass", NO_COMMITTER)
    for name in BY_PATH:
        own.conf.set(f"{CATALOGS}{name}", CANNOT_WRITE)
    for name in dict(_java_settings(own)):
        if name.startswith(CATALOGS) and "." not in name.removeprefix(CATALOGS):
            own.conf.set(name, CANNOT_WRITE)


@contextmanager
def settings_of(own: SparkSession, shared: SparkSession) -> Iterator[None]:
    """Give the shared session the settings of a program while a block runs, except for `OURS`."""
    changed = _changed(own, shared)
    before = {name: shared.conf.get(name, None) for name in changed}
    try:
        for name, value in changed.items():
            _set(shared, name, value)
        yield
    finally:
        for name, value in before.items():
            _set(shared, name, value)


def frame_in(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """Return a frame of another session as one of this session, with the same plan."""
    if frame.sparkSession is spark:
        return frame
    java: Any = frame._jdf
    return frame_of_plan(spark, java.queryExecution().analyzed())


def frame_of_plan(spark: SparkSession, plan: Any) -> DataFrame:
    """Return the frame of an analysed plan. PySpark has no API for that."""
    return DataFrame(of_plan(spark, plan), spark)


def _has_stopped(spark: SparkSession) -> bool:
    context: Any = spark.sparkContext
    # A stopped context has no `_jsc`; PySpark has no public API for that.
    return context._jsc is None


def _activate(spark: SparkSession) -> None:
    SparkSession._instantiatedSession = SparkSession._activeSession = spark
    # Static methods, which an object has as well: its class need not be asked for.
    java: Any = spark._jsparkSession
    java.setDefaultSession(java)
    java.setActiveSession(java)


def _changed(own: SparkSession, shared: SparkSession) -> Mapping[str, str | None]:
    """Return the settings of a program that the shared session has with another value, or not."""
    mine, theirs = _java_settings(own), _java_settings(shared)
    if mine.equals(theirs):
        return {}
    one, other = dict(mine), dict(theirs)
    return {
        name: one.get(name)
        for name in sorted({*one, *other})
        if one.get(name) != other.get(name) and name not in OURS and not name.startswith(OUR_PREFIXES)
    }


def _java_settings(spark: SparkSession) -> Any:
    java: Any = spark._jsparkSession
    return java.sessionState().conf().settings()


def _set(spark: SparkSession, name: str, value: str | None) -> None:
    if value is None:
        spark.conf.unset(name)
    else:
        spark.conf.set(name, value)
