"""One Spark session per process, shared by every program that runs in it.

A session takes seconds to start and keeps a JVM, so it is started once and never stopped
by a run. It belongs to the process that started it: a forked child would use its
parent's JVM over a shared socket, so the child drops the inherited objects and starts a session
of its own. Settings come from the caller as `SparkSettings`; the table layout and the reference
results depend on the fixed settings below.
"""

import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.files.scheme import scheme_of
from tidegate.spark_jobs.iceberg.runtime import IcebergSettings, iceberg_conf
from tidegate.spark_jobs.session.java import java_home

LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")

DEFAULTS: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Most daily tables are small: 200 shuffle partitions would be 200 almost empty tasks.
    "spark.sql.shuffle.partitions": "4",
    # The default, INT96, is refused by Iceberg's add_files and by other readers.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
"""Defaults that a project may change in its settings."""

FIXED: Mapping[str, str] = {
    # Instants are spelled as partition keys in the zone of their dimension, starting from UTC.
    "spark.sql.session.timeZone": "UTC",
    # Partition keys are strings: "007" is not 7 and "2013-12-22" is not a date.
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # Staged files are published by their commit, never by Spark's marker file.
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}
"""Settings that the table layout depends on. They override the project's settings."""

_lock = threading.Lock()
_sessions: dict[int, SparkSession] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class SparkSettings:
    """The settings of a Spark session.

    Attributes:
        master: a Spark master URL, for example "local[*]" or "spark://host:7077".
        conf: Spark properties, for example {"spark.driver.memory": "2g"}.
        app_name: shown in Spark's own logs and UI.
        iceberg: settings of Iceberg and its catalog; None for a session without Iceberg.
    """

    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict[str, str])
    app_name: str = "tidegate"
    iceberg: IcebergSettings | None = None


def session(settings: SparkSettings) -> SparkSession:
    """Return the session of this process; the first caller's settings apply.

    Raises:
        JavaNotFound: Java 17 was not found.
        OutputError: the warehouse is a folder, and Spark's default file system is not local.
    """
    with _lock:
        known = _sessions.get(os.getpid())
        # A stopped context has no `_jsc`; PySpark has no public API for that.
        if known is not None and known.sparkContext._jsc is not None:
            return known
        if _sessions and known is None:
            _drop_inherited()
        started = _start(settings)
        _sessions.clear()
        _sessions[os.getpid()] = started
        return started


def properties(settings: SparkSettings) -> dict[str, str]:
    """Return the Spark properties of a session, without those of this machine's network and logs."""
    conf = {**DEFAULTS, **settings.conf, **FIXED}
    if settings.iceberg is not None:
        conf |= iceberg_conf(settings.iceberg, settings.master, conf)
    return conf


def _start(settings: SparkSettings) -> SparkSession:
    os.environ["JAVA_HOME"] = str(java_home())
    # Workers must use this Python, not the first one in the PATH. On other machines its path may differ.
    os.environ.setdefault("PYSPARK_PYTHON", settings.conf.get("spark.pyspark.python", sys.executable))
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.Builder().master(settings.master).appName(settings.app_name)
    conf = properties(settings)
    if settings.master.startswith("local"):
        # Everything runs on this machine, so it must work even if its host name does not resolve.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        conf.setdefault("spark.driver.host", "127.0.0.1")
        conf.setdefault("spark.driver.bindAddress", "127.0.0.1")
    if "spark.driver.extraJavaOptions" not in conf:
        # Read when the JVM starts, so it also silences Spark's own start-up lines.
        conf["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile=file:{LOG_SETTINGS}"
    for name, value in conf.items():
        builder = builder.config(name, value)
    started = builder.getOrCreate()
    if settings.iceberg is not None:
        _refuse_two_places(started, settings.iceberg.warehouse)
    return started


def _refuse_two_places(spark: SparkSession, warehouse: str) -> None:
    """Refuse a plain path that is local to Tidegate, but on the cluster's default file system to Spark."""
    context: Any = spark.sparkContext
    default = str(context._jsc.hadoopConfiguration().get("fs.defaultFS", "file:///"))
    if scheme_of(warehouse) == "" and scheme_of(default) != "file":
        spark.stop()
        raise OutputError(
            f"the warehouse is the local folder {warehouse}, but Spark would look for it on {default}",
            f'write path = "{default.rstrip("/")}/..." in [warehouse] of tidegate.toml, or path = '
            f'"file://{warehouse}" for a folder that is mounted on every machine of the cluster',
        )


def _drop_inherited() -> None:
    """Drop the parent's JVM in a forked child, without sending it any command.

    PySpark keeps these objects as class attributes and has no public API to drop them.
    """
    for owner, names in (
        (SparkContext, ("_active_spark_context", "_gateway", "_jvm")),
        (SparkSession, ("_instantiatedSession", "_activeSession")),
    ):
        for name in names:
            if hasattr(owner, name):
                setattr(owner, name, None)
    _sessions.clear()
