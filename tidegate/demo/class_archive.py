"""The class archive of the demo: what Spark's JVM loads, parsed and verified once instead of in every run.

A run of the demo handles some hundred rows, so half of the processor time goes into loading
twenty thousand classes. A JVM can write those it has loaded into an archive as it ends, and
later ones map it (Java's class data sharing). This module is also a program that makes the
archive, by a small piece of Spark's work; the demo starts it beside the first runs. A JVM to
which the archive does not fit, or that finds none, starts without it and says nothing.
"""

import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable"
"""Options for a JVM that lives for seconds: what counts is how fast it starts."""


def archive_file() -> Path:
    """Where the archive of this environment is kept: in it, so that it goes when the environment does."""
    import pyspark

    from tidegate.spark_jobs.iceberg.runtime import runtime_jar
    from tidegate.spark_jobs.session.java import java_home

    home = java_home()
    release = home / "release"
    parts = (home, release.read_text() if release.is_file() else "", pyspark.__version__, runtime_jar())
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
    return Path(sys.prefix) / f"spark-classes-{digest}.jsa"


def java_options(archive: Path) -> str:
    """The options with which the JVMs of the demo start; the archive may come later."""
    return f'{QUICK_START} "-XX:SharedArchiveFile={archive}"'


def make(archive: Path) -> None:
    """Makes the archive, some 150 MB. The JVM of this process must not have been started."""
    partial = archive.with_name(f"{archive.name}.{os.getpid()}")
    os.environ["JDK_JAVA_OPTIONS"] = f'{QUICK_START} "-XX:ArchiveClassesAtExit={partial}"'
    try:
        with tempfile.TemporaryDirectory(prefix="tidegate-classes-") as folder:
            _work(Path(folder))
        if partial.is_file():
            # A JVM that mapped half an archive would die of it.
            partial.replace(archive)
    finally:
        partial.unlink(missing_ok=True)


def _work(folder: Path) -> None:
    """Some of all that a run does, and the end of the JVM, which writes the archive."""
    from pyspark.sql import functions as sf

    from tidegate.spark_jobs.iceberg.runtime import CATALOG, IcebergSettings
    from tidegate.spark_jobs.session.session import SparkSettings, session

    spark = session(
        SparkSettings(master="local[1]", iceberg=IcebergSettings(warehouse=str(folder / "warehouse")))
    )
    files, table = str(folder / "files"), f"{CATALOG}.classes.flights"
    flights = (
        spark.range(100).withColumn("day", sf.lit("2013-12-22")).withColumn("at", sf.current_timestamp())
    )
    flights.write.partitionBy("day").parquet(files)
    landed = spark.read.parquet(files).where("id > 10").distinct()
    landed.writeTo(table).partitionedBy(sf.col("day")).create()
    counted = spark.table(table).groupBy("day").agg(sf.count("*").alias("flights"), sf.sum("id").alias("sum"))
    joined = spark.table(table).join(counted, "day", "left").orderBy(sf.col("id").desc())
    joined.select("day", "id", "at").writeTo(table).overwritePartitions()
    joined.limit(5).collect()
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    # The JVM of PySpark ends when its standard input does.
    gateway.proc.stdin.close()
    gateway.proc.wait()


if __name__ == "__main__":
    make(Path(sys.argv[1]))
