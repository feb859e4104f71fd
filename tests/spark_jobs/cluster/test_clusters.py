"""Programs on a standalone cluster: their own modules on executors, and the deaths of what takes part.

Executors have Spark and no checkout. What the project's modules compute there must be in the tables once, as
pandas computes it, also after a worker or a driver has died while tasks were writing.
"""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from time import monotonic, sleep

import pandas as pd
import pytest
from pyspark import SparkConf
from pyspark.sql import SparkSession

from tests.crashes.processes import SIGKILL, end, fork, in_child
from tests.effort import longer
from tests.spark_jobs.cluster.standalone import SMALL, Standalone, children_of, standalone
from tidegate.domain.model import Dataset, PartitionScheme, Program, TimeDimension
from tidegate.domain.spark_conf import Cluster
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.errors import ClusterRefused
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read
from tidegate.spark_jobs.runner import run_program
from tidegate.spark_jobs.session.executor_code import program_properties
from tidegate.spark_jobs.session.executors import check_executors, link_of
from tidegate.spark_jobs.session.session import SparkSettings, program_conf, session

# A cluster of three JVMs, and one for each driver with its executors.
pytestmark = pytest.mark.spark

WAIT_SECONDS = longer(120)
DAYS = ("2013-12-22", "2013-12-23")
ROWS = 400
DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))
DATASETS = {
    "plain": Dataset(name="plain", partitions=DAILY, format="parquet", write="append"),
    "ice": Dataset(name="ice", partitions=DAILY, format="iceberg", write="append"),
}
FILES = {
    "programs/fares.py": """
        import os, time
        from pathlib import Path

        from pyspark.sql import functions as sf

        from surcharges import surcharge

        def fare(number, flags):
            from money.cents import rounded  # found on the executors, though only a call needs it
            if flags and number == 1:
                meet(Path(flags))
            return rounded(number * 1.5 + surcharge(number))

        def meet(flags):
            try:
                (flags / "writing").mkdir()
            except FileExistsError:
                return
            while not (flags / "go on").exists():
                time.sleep(0.05)

        def price(spark, inputs, params):
            flags = params.args.get("flags", "")
            of = sf.udf(lambda number: fare(number, flags), "double")
            days = sf.when(sf.col("id") % 2 == 0, "2013-12-22").otherwise("2013-12-23")
            frame = spark.range(0, 400, 1, 4).select(sf.col("id"), days.alias("day"), of("id").alias("fare"))
            return {name: frame for name in params.args["outputs"]}
        """,
    "money/cents.py": """
        def rounded(amount):
            return round(amount, 2)
        """,
    "surcharges.py": """
        def surcharge(number):
            return 0.125 * (number % 7)
        """,
}


class Shop:
    """A project with a program, modules of its own, and a cluster among its settings."""

    def __init__(self, folder: Path, cluster: Standalone) -> None:
        self.folder = folder
        for name, text in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(dedent(text))
        self.flags = folder / "flags"
        self.flags.mkdir()
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.url = f"sqlite:///{folder / 'store.db'}"
        self.spark = SparkSettings(
            master="local[1]",
            conf=SMALL,
            clusters={"small": Cluster(master=cluster.master, conf={"spark.ui.enabled": "true"})},
            iceberg=IcebergSettings(warehouse=str(folder / "warehouse")),
            project=folder,
        )

    def price(self, output: str, *, wait: bool = False) -> SparkSession:
        """Run the program on the cluster, as a run's process does. Return the session of the run."""
        sys.path.insert(0, str(self.folder))
        program = Program(name="p", run="programs.fares.price", writes=(output,), cluster="small")
        with program_conf(program_properties(self.spark, program, DATASETS)):
            run_program(
                lambda: session(self.spark),
                self.warehouse,
                SqlCommitStepStore(open_sql_store(self.url).engine),
                app="shop",
                program=program,
                datasets=DATASETS,
                params=Params(
                    partitions=DAYS, args={"outputs": [output], "flags": str(self.flags) if wait else ""}
                ),
                commit=f"one-of-{output}",
            )
            return session(self.spark)

    def equals_pandas(self, output: str, spark: SparkSession) -> None:
        """The output holds each row once, as pandas computes it."""
        frame = read(spark, dataset_ref("shop", DATASETS[output]), self.warehouse)
        assert frame is not None
        found = pd.DataFrame([row.asDict() for row in frame.select("id", "day", "fare").collect()])
        numbers = pd.Series(range(ROWS))
        expected = pd.DataFrame(
            {
                "id": numbers,
                "day": [DAYS[number % 2] for number in numbers],
                "fare": (numbers * 1.5 + 0.125 * (numbers % 7)).round(2),
            }
        )
        found = found.sort_values("id", ignore_index=True)
        pd.testing.assert_frame_equal(found, expected, check_dtype=False)

    def wait_for_writers(self) -> None:
        """Wait until a task is in the middle of what it writes."""
        until = monotonic() + WAIT_SECONDS
        while not (self.flags / "writing").exists():
            assert monotonic() < until, "no task has begun to write"
            sleep(0.05)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with standalone(tmp_path_factory.mktemp("cluster")) as running:
        yield running


def test_a_driver_is_killed_while_executors_write_and_the_next_one_publishes_what_they_compute(
    tmp_path: Path, cluster: Standalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop(tmp_path, cluster)
    driver = fork(lambda: shop.price("ice", wait=True))
    shop.wait_for_writers()
    kill_driver(driver)
    (shop.flags / "go on").touch()

    def work() -> None:
        spark = shop.price("ice", wait=True)
        assert spark.sparkContext.master == cluster.master
        shop.equals_pandas("ice", spark)
        assert sys.path[0] == str(tmp_path), "the driver imports its own files first"
        assert link_of(spark, "") == spark.sparkContext.uiWebUrl is not None
        application = spark.sparkContext.applicationId
        assert link_of(spark, "https://past") == spark.sparkContext.uiWebUrl, "no event log is written"
        events = [("spark.eventLog.enabled", "true")]
        monkeypatch.setattr(spark.sparkContext, "_conf", SparkConf(_jvm=spark._jvm).setAll(events))
        assert link_of(spark, "https://past") == f"https://past/history/{application}"
        # The same code and cluster: the same Spark serves the next run.
        assert shop.price("plain").sparkContext.applicationId == application
        shop.equals_pandas("plain", spark)
        refuse_other_versions(spark, cluster.master, tmp_path)

    assert in_child(work) == 0
    # One zip of each package, for both drivers.
    assert len(list((tmp_path / ".tidegate/executor-code").iterdir())) == len(FILES)


def refuse_other_versions(spark: SparkSession, master: str, folder: Path) -> None:
    """An executor whose Python says that it is another one, and one that has none."""
    (folder / "sitecustomize.py").write_text(
        "import sys\nfrom collections import namedtuple\n"
        "parts = namedtuple('parts', 'major minor micro releaselevel serial')\n"
        "sys.version_info = parts(3, 10, 1, 'final', 0)\n"
    )
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}:$PYTHONPATH" exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    spark.sparkContext.pythonExec = str(python)
    with pytest.raises(ClusterRefused, match=r"have Python 3\.10, and the driver has Python 3"):
        check_executors(spark, master)
    spark.sparkContext.pythonExec = str(folder / "absent")
    check_executors(spark, master)


def kill_driver(driver: int) -> None:
    """Kill a driver with its JVM, as by a power cut of its machine."""
    for child, _ in children_of(driver):
        os.kill(child, signal.SIGKILL)
    os.kill(driver, signal.SIGKILL)
    assert end(driver) == SIGKILL
