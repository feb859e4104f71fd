"""Compaction beside a writer: Tidegate leaves the writer's partition out, a cron that starts one does not.

A table has forty days of small files. For half a minute a writer changes rows of one more day each second,
while the table is compacted every five seconds: not at all, by Tidegate's `rewrite_data_files`, which the
engine gives the partitions of running jobs, and by Iceberg's procedure, as a cron would call it. Each way has
a table of its own, in the same session, one after the other.

    compactions   that ended well, and those that others were faster than
    retries       of the writer, since its commit failed
    delay         of the writer's commits: from the second at which each was due until it was in the table
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tidegate.domain.maintenance.reported import Ending
from tidegate.domain.model import Operation, PartitionScheme, TimeDimension
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.maintenance.operation import run_operation
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest, TableTarget
from tidegate.spark_jobs.session.session import SparkSettings, session

COLD_DAYS = 40
FILES_A_DAY = 8
HOT = "2014-03-01"
COMMITS = 30
EVERY_SECONDS = 5.0
TRIES = 20
DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2014-01-01"))


class NeverAsks:
    """The control of a run that nothing stops."""

    def should_yield(self) -> bool:
        return False

    def should_stop(self) -> bool:
        return False


@dataclass(kw_only=True, slots=True)
class Figures:
    """What happened to one table."""

    delays: list[float] = field(default_factory=list[float])
    retries: int = 0
    landed: int = 0
    compacted: int = 0
    conflicts: int = 0


def main() -> int:
    """Measure and print.

    Returns:
        1 if a commit of the writer is lost, else 0.
    """
    with tempfile.TemporaryDirectory() as folder:
        spark = session(
            SparkSettings(
                master="local[2]",
                conf={"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "2"},
                iceberg=IcebergSettings(warehouse=f"{folder}/iceberg"),
            )
        )
        try:
            spark.sql("CREATE NAMESPACE IF NOT EXISTS tidegate.bench")
            _play(spark, "warm", _procedure, commits=3)
            print(f"{COMMITS} commits, one a second; {COLD_DAYS} other days of {FILES_A_DAY} files each")
            ways = {"nothing else": None, "Tidegate": _ours, "a cron": _procedure}
            return max([_show(spark, name, compact) for name, compact in ways.items()])
        finally:
            spark.stop()


def _show(spark: SparkSession, name: str, compact: Callable[[SparkSession, str], bool] | None) -> int:
    table = name.replace(" ", "_").lower()
    found = _play(spark, table, compact, commits=COMMITS)
    cold = spark.table(f"tidegate.bench.{table}.files").where(f"partition.day <> '{HOT}'").count()
    print(
        f"  {name + ':':13} {found.compacted} compactions, {found.conflicts} lost; {cold} files of other days"
        f" left; writer: {found.landed} commits, {found.retries} retries,"
        f" delay {statistics.median(found.delays):.2f} s in the median, {max(found.delays):.2f} s at most",
        flush=True,
    )
    return int(found.landed != COMMITS)


def _play(
    spark: SparkSession, name: str, compact: Callable[[SparkSession, str], bool] | None, *, commits: int
) -> Figures:
    """Write and compact a new table at the same time."""
    table, figures, over = f"tidegate.bench.{name}", Figures(), Event()
    _make(spark, table)

    def compacts() -> None:
        while compact is not None and not over.is_set():
            if compact(spark, name):
                figures.compacted += 1
            else:
                figures.conflicts += 1
            over.wait(EVERY_SECONDS)

    thread = Thread(target=compacts)
    thread.start()
    begun = time.monotonic()
    for number in range(commits):
        time.sleep(max(0.0, begun + number - time.monotonic()))
        figures.retries += _write(spark, table, number)
        figures.delays.append(time.monotonic() - begun - number)
    over.set()
    thread.join()
    figures.landed = spark.table(table).where(f"day = '{HOT}' AND value >= 0").count()
    return figures


def _make(spark: SparkSession, table: str) -> None:
    spark.sql(
        f"CREATE TABLE {table} (day string, id bigint, value bigint) USING iceberg PARTITIONED BY (day)"
        " TBLPROPERTIES ('format-version' = '2', 'write.distribution-mode' = 'none',"
        " 'write.update.distribution-mode' = 'none')"
    )
    day = f"date_format(date_add(date'2014-01-01', cast(id % {COLD_DAYS} AS int)), 'yyyy-MM-dd')"
    cold = spark.range(COLD_DAYS * FILES_A_DAY * 50).selectExpr(f"{day} AS day", "id", "-1L AS value")
    cold.repartition(FILES_A_DAY).sortWithinPartitions("day").writeTo(table).append()
    hot = spark.range(COMMITS).selectExpr(f"'{HOT}' AS day", "id", "-1L AS value")
    hot.repartition(FILES_A_DAY).writeTo(table).append()


def _write(spark: SparkSession, table: str, number: int) -> int:
    """Change one row; return how many times that had to be tried again."""
    for tries in range(TRIES):
        try:
            spark.sql(f"UPDATE {table} SET value = {number} WHERE day = '{HOT}' AND id = {number}")
        except PySparkException as error:
            if "conflict" not in str(error).lower() and "CommitFailed" not in str(error):
                raise
            continue
        return tries
    return TRIES


def _ours(spark: SparkSession, name: str) -> bool:
    """Compact a table as a run of the engine does while a job writes one partition."""
    ref = DatasetRef(app="bench", name=name, format="iceberg", scheme=DAILY)
    request = OperationRequest(
        table=TableTarget(name=ref.id, ref=ref), operation=Operation.REWRITE_DATA_FILES, excluded=(HOT,)
    )
    return (
        run_operation(MaintenanceContext(spark=lambda: spark), request, NeverAsks()).ending
        is Ending.SUCCEEDED
    )


def _procedure(spark: SparkSession, name: str) -> bool:
    """Compact a table with Iceberg's procedure; return whether no other commit was faster."""
    try:
        spark.sql(f"CALL tidegate.system.rewrite_data_files(table => 'bench.{name}')")
    except Exception as error:
        if "conflict" not in str(error).lower() and "Commit" not in str(error):
            raise
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
