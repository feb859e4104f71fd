"""My program set a time zone, and rows of that day were written to the day before, and the day was emptied.

What a program does to its session stays with it: Tidegate reads, stages and publishes under its own settings,
and the next program of the process finds a session as if none had run before.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.frames import frame_of
from tests.spark_jobs.publishing import with_formats
from tests.spark_jobs.staging import DAILY
from tests.spark_jobs.without_spark import rows_of
from tidegate.domain.model import Dataset, Program
from tidegate.domain.model.table_format import DatasetFormat
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.programs.program import ProgramExited
from tidegate.spark_jobs.runner import run_program

pytestmark = pytest.mark.spark

LATE = "2026-03-09 23:30:00"
"""The last hour of a day in UTC, and the next day in Tokyo."""
SEEN: dict[str, Any] = {}


def wild(spark: SparkSession, inputs: Mapping[str, DataFrame], params: Any) -> DataFrame:
    """Does all that a program can do to its session, and returns an instant as its partition column."""
    spark.sql("SET TIME ZONE 'Asia/Tokyo'")
    for name, value in (
        ("spark.sql.ansi.enabled", "true"),
        ("spark.sql.caseSensitive", "true"),
        ("spark.sql.sources.partitionColumnTypeInference.enabled", "true"),
        ("spark.sql.files.ignoreCorruptFiles", "true"),
        ("spark.sql.shuffle.partitions", "3"),
        ("spark.sql.parquet.outputTimestampType", "INT96"),
        ("spark.wap.branch", "aside"),
    ):
        spark.conf.set(name, value)
    spark.sql("CREATE TEMPORARY VIEW mine AS SELECT 1 AS one")
    spark.range(1).createGlobalTempView("everybodys")
    spark.udf.register("twice", lambda x: x, "int")
    spark.catalog.setCurrentCatalog("tidegate")
    inputs["source"].createOrReplaceTempView("given")
    assert SparkSession.builder.getOrCreate() is spark
    assert SparkSession.getActiveSession() is spark
    zoned = spark.sql("SELECT at AS day, id, date_format(at, 'HH') AS hour FROM given")
    # The number of partitions of a shuffle is still its own when the rows are staged.
    return zoned.repartition("id").withColumn("part", sf.spark_partition_id())


def tame(spark: SparkSession, inputs: Mapping[str, DataFrame], params: Any) -> DataFrame:
    """Looks at what the program before has left."""
    SEEN.update(
        zone=spark.conf.get("spark.sql.session.timeZone"),
        ansi=spark.conf.get("spark.sql.ansi.enabled"),
        shuffle=spark.conf.get("spark.sql.shuffle.partitions"),
        catalog=spark.catalog.currentCatalog(),
        views=[table.name for table in spark.catalog.listTables() if table.isTemporary],
        everybodys=spark.catalog.tableExists("global_temp.everybodys"),
        function=spark.catalog.functionExists("twice"),
    )
    return inputs["source"].select(
        sf.col("at").alias("day"), "id", sf.lit("").alias("hour"), sf.lit(0).alias("part")
    )


def leaves(spark: SparkSession, inputs: Mapping[str, DataFrame], params: Any) -> DataFrame:
    sys.exit(params.args["code"])


def leaves_at_once(spark: SparkSession, inputs: Mapping[str, DataFrame], params: Any) -> DataFrame:
    child = os.fork()
    if not child:
        os._exit(7)
    assert os.waitpid(child, 0)[1] >> 8 == 7
    os._exit(0)


class Shop:
    """An app whose table was landed with one instant."""

    def __init__(self, folder: Path, spark: SparkSession, format: DatasetFormat, app: str) -> None:
        self.spark, self.store, self.app = spark, MemoryCommitStepStore(), app
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.datasets = {
            "source": Dataset(name="source", path="landing/source"),
            "out": Dataset(name="out", partitions=DAILY, format=format),
        }
        rows = frame_of(spark, [(LATE, 1), (LATE, 2)], "at string, id int")
        rows.select(sf.col("at").cast("timestamp"), "id").write.parquet(str(folder / "landing/source"))

    def run(self, function: str, commit: str = "c1", **args: Any) -> None:
        run_program(
            self.spark,
            self.warehouse,
            self.store,
            app=self.app,
            program=Program(name="p", run=f"{__name__}.{function}", reads=("source",), writes=("out",)),
            datasets=self.datasets,
            params=Params(partitions=("2026-03-09",), args=args),
            commit=commit,
        )

    def rows(self) -> list[dict[str, Any]]:
        return rows_of(self.spark, dataset_ref(self.app, self.datasets["out"]), self.warehouse)


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[dict[str, str]]:
    """The settings of the process, which no program changes."""

    def found() -> dict[str, str]:
        # Iceberg adds catalogs of its own when a session uses it.
        own = "spark.sql.catalog.default_"
        return {row.key: row.value for row in spark.sql("SET").collect() if not row.key.startswith(own)}

    yield (before := found())
    assert found() == before


@with_formats("iceberg")
def test_a_time_zone_moves_no_row_and_nothing_leaks(
    tmp_path: Path, spark: SparkSession, settings: dict[str, str], format: DatasetFormat
) -> None:
    shop = Shop(tmp_path, spark, format, f"settings_{format}")
    shop.run("wild")
    rows = shop.rows()
    assert [(row["day"], row["hour"]) for row in rows] == [("2026-03-09", "08")] * 2
    shop.run("tame", "c2")
    assert len(shop.rows()) == 2
    assert dict(SEEN) == {
        "zone": "UTC",
        "ansi": "false",
        "shuffle": settings["spark.sql.shuffle.partitions"],
        "catalog": "spark_catalog",
        "views": [],
        "everybodys": False,
        "function": False,
    }


def test_a_program_that_ends_its_process_has_failed(tmp_path: Path, spark: SparkSession) -> None:
    shop = Shop(tmp_path, spark, "parquet", "exits")
    for commit, (function, args, told) in enumerate(
        (
            ("leaves", {"code": 0}, "sys.exit(0)"),
            ("leaves", {"code": None}, "sys.exit()"),
            ("leaves", {"code": "no data today"}, "sys.exit('no data today')"),
            ("leaves_at_once", {}, "sys.exit(0)"),
        )
    ):
        with pytest.raises(ProgramExited) as caught:
            shop.run(function, f"c{commit}", **args)
        assert told in str(caught.value)
        assert "nothing was published" in str(caught.value)
    assert shop.rows() == []
    assert shop.store.list_unfinished() == ()
