"""A program on a cluster of real processes: a master, two workers, an executor each.

`local-cluster[…]` is Spark's own standalone cluster in small. Nothing that only works in one
process survives it: the Iceberg jar must travel to the executors, and so must the program's functions. One
executor is killed during the write, and its tasks are run again by another.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from tests.crashes.processes import in_child
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.interpreted import INTERPRETED
from tidegate.domain.model import Dataset, PartitionScheme, Program, TimeDimension
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read
from tidegate.spark_jobs.runner import run_program
from tidegate.spark_jobs.session.session import SparkSettings, session

# A cluster of three JVMs takes its time to start.
pytestmark = pytest.mark.spark

MASTER = "local-cluster[2,1,1024]"
DAYS = ("2013-12-22", "2013-12-23")
ROWS_A_DAY = 500
DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))
DATASETS = {
    "plain": Dataset(name="plain", partitions=DAILY, format="parquet"),
    "ice": Dataset(name="ice", partitions=DAILY, format="iceberg"),
}
PROGRAM = Program(name="p", run=f"{__name__}.spread", writes=("plain", "ice"))


def spread(spark: SparkSession, inputs: object, params: Any) -> dict[str, DataFrame]:
    """Rows of two days from every executor; the first task to come by kills the executor it is in."""
    flag = params.args["kill_once"]

    def executor_of(number: int) -> int:
        import os
        import signal

        # A Python worker's parent is Spark's daemon, and that one's parent the executor.
        with open(f"/proc/{os.getppid()}/stat") as stat:  # noqa: PTH123 -- runs in the executor
            executor = int(stat.read().rpartition(")")[2].split()[1])
        if number % 100 == 99:
            try:
                file = os.open(flag, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                os.write(file, b"%d" % executor)
                os.kill(executor, signal.SIGKILL)
            except FileExistsError:
                pass
        return executor

    numbers = spark.range(2 * ROWS_A_DAY).repartition(4)
    rows = numbers.select(
        sf.col("id").alias("value"),
        sf.when(sf.col("id") < ROWS_A_DAY, DAYS[0]).otherwise(DAYS[1]).alias("day"),
        sf.udf(executor_of, "int")("id").alias("executor"),
    )
    return {"plain": rows, "ice": rows}


@pytest.fixture
def spark_home(tmp_path: Path) -> Iterator[Path]:
    """Spark in a folder of the test: in `work` in it a local cluster leaves logs and copies of jars."""
    home = tmp_path / "spark"
    home.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    yield home


@pytest.mark.soak  # cluster/test_clusters.py has more than that on a standalone cluster
def test_a_program_runs_on_several_processes_and_publishes_once(tmp_path: Path, spark_home: Path) -> None:
    def work() -> None:
        os.environ["SPARK_HOME"] = str(spark_home)
        house = tmp_path / "ware house"
        spark = session(
            SparkSettings(
                master=MASTER,
                conf={
                    "spark.driver.memory": "700m",
                    "spark.executor.memory": "700m",
                    **INTERPRETED,
                },
                iceberg=IcebergSettings(warehouse=str(house)),
            )
        )
        _check(spark, Warehouse(path=house, project=tmp_path), tmp_path / "killed once")
        spark.stop()

    assert in_child(work) == 0
    assert sum(1 for _ in (spark_home / "work").glob("app-*/*/stderr")) >= 3


def _check(spark: SparkSession, warehouse: Warehouse, killed: Path) -> None:
    store = MemoryCommitStepStore()
    for _ in range(2):
        published = run_program(
            spark,
            warehouse,
            store,
            app="test",
            program=PROGRAM,
            datasets=DATASETS,
            params=Params(partitions=DAYS, args={"kill_once": str(killed)}),
            commit="c1",
        )
        assert {(one.dataset, one.key, one.rows) for one in published} == {
            (name, day, ROWS_A_DAY) for name in DATASETS for day in DAYS
        }
    # What the killed one had written was written again by another: no row is its, and none is missing.
    processes = {os.getpid(), _jvm(spark), int(killed.read_text())}
    for dataset in DATASETS.values():
        seen = _rows(spark, dataset_ref("test", dataset), warehouse)
        assert sorted(value for value, _ in seen) == list(range(2 * ROWS_A_DAY))
        assert not processes & {executor for _, executor in seen}


def _rows(spark: SparkSession, ref: DatasetRef, warehouse: Warehouse) -> list[tuple[int, int]]:
    frame = read(spark, ref, warehouse)
    assert frame is not None
    return [(row.value, row.executor) for row in frame.collect()]


def _jvm(spark: SparkSession) -> int:
    java: Any = spark._jvm
    return int(java.java.lang.ProcessHandle.current().pid())
