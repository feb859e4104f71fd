"""Programs on a standalone cluster: their own modules on executors, and the deaths of what takes part.

Executors have Spark and no checkout. What the project's modules compute there must be in the tables once, as
pandas computes it, also after a worker or a driver has died while tasks were writing.
"""

import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from pyspark import SparkConf
from pyspark.sql import SparkSession

from tests.crashes.processes import end, fork, in_child
from tests.spark_jobs.cluster.shop import DRIVER_SECONDS, FILES, Shop, kill_driver
from tests.spark_jobs.cluster.standalone import Standalone, standalone
from tests.spark_jobs.flights.app import FlightsProject
from tests.spark_jobs.flights.reference import Reference
from tests.tiers import has_iceberg
from tidegate.spark_jobs.errors import ClusterRefused
from tidegate.spark_jobs.session import session as sessions
from tidegate.spark_jobs.session.executors import check_executors, link_of

# A cluster of three JVMs, and one for each driver with its executors.
pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with standalone(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.mark.iceberg
@pytest.mark.soak  # in make test a worker is killed, and drivers on one machine (crash_table)
def test_a_driver_is_killed_while_executors_write_and_the_next_one_publishes_what_they_compute(
    tmp_path: Path, cluster: Standalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop(tmp_path, cluster)
    driver = fork(lambda: shop.price("ice", wait=True), DRIVER_SECONDS)
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


DAY = date(2013, 12, 22)
FLIGHTS = ("clean_weather", "clean_flights", "delays_by_weather", "refresh_reference", "carrier_report")


def test_a_worker_is_killed_while_it_writes_and_the_flights_go_from_landing_to_report_without_it(
    tmp_path: Path, cluster: Standalone, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop(tmp_path, cluster, cores=2)
    asked: list[str] = []

    def check(spark: SparkSession, master: str) -> None:
        asked.append(master)
        check_executors(spark, master)

    monkeypatch.setattr(sessions, "check_executors", check)

    def work() -> None:
        spark = shop.price("plain", wait=True)
        shop.equals_pandas("plain", spark)
        assert asked == [cluster.master], "once a session"
        if not has_iceberg():
            return
        project = FlightsProject(tmp_path / "flights", spark)
        project.land([DAY])
        for program in FLIGHTS:
            keys = [str(DAY)] if program not in FLIGHTS[-2:] else []
            project.run(program, *keys, **({"minimum_flights": 1} if program == FLIGHTS[-1] else {}))
        expected = Reference([str(DAY)])
        for table in ("clean_flights", "clean_weather", "delays_by_weather", "carrier_report"):
            assert sorted(project.tuples(table), key=repr) == sorted(getattr(expected, table)(), key=repr)

    driver = fork(work, DRIVER_SECONDS)
    cluster.kill_worker(shop.wait_for_writers())
    cluster.start_worker()
    assert end(driver) == 0
