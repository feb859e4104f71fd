"""The class archive of the demo: the classes of Spark's JVM, parsed and verified once for all runs.

A run of the demo processes some hundred rows, so half of the processor time is spent loading
twenty thousand classes. A JVM can write its loaded classes into an archive when it ends, and later
JVMs map it (Java's class data sharing). This module is also a program that creates the archive
with a small Spark workload; `make demo` and `make test` call it before they begin. A JVM ignores a
missing or incompatible archive.
"""

import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable"
"""Options for a JVM that runs for seconds: they minimise the start-up time."""


def archive_file() -> Path:
    """Return the path of the archive: inside the virtual environment, so that it is deleted with it."""
    import pyspark

    from tidegate.spark_jobs.iceberg.catalog.runtime import runtime_jar
    from tidegate.spark_jobs.session.java import java_home

    home = java_home()
    release = home / "release"
    parts = (home, release.read_text() if release.is_file() else "", pyspark.__version__, runtime_jar())
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
    return Path(sys.prefix) / f"spark-classes-{digest}.jsa"


def java_options(archive: Path) -> str:
    """Return the JVM options of the demo; the archive does not have to exist yet."""
    return f'{QUICK_START} "-XX:SharedArchiveFile={archive}"'


def make(archive: Path) -> None:
    """Create the archive, about 150 MB. The JVM of this process must not be running."""
    partial = archive.with_name(f"{archive.name}.{os.getpid()}")
    os.environ["JDK_JAVA_OPTIONS"] = f'{QUICK_START} "-XX:ArchiveClassesAtExit={partial}"'
    try:
        with tempfile.TemporaryDirectory(prefix="tidegate-classes-") as folder:
            _work(Path(folder))
        if partial.is_file():
            # A JVM that maps an incomplete archive would crash.
            partial.replace(archive)
    finally:
        partial.unlink(missing_ok=True)


def _work(folder: Path) -> None:
    """Run a small workload that covers what a run does, and end the JVM, which writes the archive."""
    from pyspark.sql import functions as sf

    from tidegate.domain.model.dataset import CATALOG
    from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings, runtime_jar
    from tidegate.spark_jobs.session.session import SparkSettings, session

    spark = session(
        SparkSettings(master="local[1]", iceberg=IcebergSettings(warehouse=str(folder / "warehouse")))
    )
    flights = (
        spark.range(100).withColumn("day", sf.lit("2013-12-22")).withColumn("at", sf.current_timestamp())
    )
    flights.write.partitionBy("day").parquet(str(folder / "files"))
    landed = spark.read.parquet(str(folder / "files")).where("id > 10").distinct()
    table = f"{CATALOG}.classes.flights"
    if is_iceberg := runtime_jar() is not None:
        landed.writeTo(table).partitionedBy(sf.col("day")).create()
        landed = spark.table(table)
    counted = landed.groupBy("day").agg(sf.count("*").alias("flights"), sf.sum("id").alias("sum"))
    joined = landed.join(counted, "day", "left").orderBy(sf.col("id").desc())
    if is_iceberg:
        joined.select("day", "id", "at").writeTo(table).overwritePartitions()
    joined.limit(5).collect()
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    # The JVM of PySpark ends when its standard input does.
    gateway.proc.stdin.close()
    gateway.proc.wait()


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else archive_file()
    if not path.exists():
        make(path)
