"""What else of a standalone cluster may be lost in the middle of a run, and the kill tests of tables on it.

The master, the shuffle of an executor, a driver that writes Parquet; and the tests that kill drivers at every
step of a publish, with their session on a cluster in place of one process.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crashes.processes import end, fork, in_child
from tests.spark_jobs.cluster.shop import DRIVER_SECONDS, Shop, kill_driver
from tests.spark_jobs.cluster.standalone import Standalone, standalone
from tidegate.dagster_defs.run.failure_text import failure_text
from tidegate.spark_jobs.errors import ClusterRefused
from tidegate.spark_jobs.session.executor_wait import LIMIT

# Each test has drivers of its own, and the kill tests dozens of them: only a soak runs them.
pytestmark = [pytest.mark.spark, pytest.mark.soak, pytest.mark.timeout(3600)]

CRASH_TABLE = "tests/spark_jobs/crash_table/test_crash_table.py"
KILLS = "tests/spark_jobs/iceberg/test_crash.py"
WHOLE = "1.01"
"""The effort with every point of the table, and not more kills of a sweep than usual."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Standalone]:
    with standalone(tmp_path / "cluster") as running:
        yield running


@pytest.mark.iceberg
def test_a_master_that_is_killed_comes_back_and_the_run_goes_on(tmp_path: Path, cluster: Standalone) -> None:
    shop = Shop(tmp_path, cluster, cores=2)
    driver = fork(lambda: shop.equals_pandas("ice", shop.price("ice", wait=True)), DRIVER_SECONDS)
    shop.wait_for_writers()
    cluster.kill_master()
    cluster.start_master()
    # The new master knows its workers from the old one, and calls them: they do not register again.
    for number in range(2):
        cluster.wait_for(f"worker-{number}", "Master has changed")
    (shop.flags / "go on").touch()
    assert end(driver) == 0
    # The next run begins with the new master.
    assert in_child(lambda: shop.equals_pandas("plain", shop.price("plain"))) == 0


@pytest.mark.iceberg
def test_rows_of_a_shuffle_that_is_lost_are_computed_again(tmp_path: Path, cluster: Standalone) -> None:
    shop = Shop(tmp_path, cluster, cores=2)
    driver = fork(
        lambda: shop.equals_pandas("ice", shop.price("ice", wait=True, shuffle=True)), DRIVER_SECONDS
    )
    writes = shop.wait_for_writers()
    # What it has of the shuffle goes with it: half of what the tasks read that have not begun.
    cluster.kill_worker(1 - writes)
    cluster.start_worker()
    (shop.flags / "go on").touch()
    assert end(driver) == 0


def test_a_driver_of_parquet_is_killed_while_executors_write(tmp_path: Path, cluster: Standalone) -> None:
    shop = Shop(tmp_path, cluster)
    driver = fork(lambda: shop.price("plain", wait=True), DRIVER_SECONDS)
    shop.wait_for_writers()
    kill_driver(driver)
    (shop.flags / "go on").touch()
    assert in_child(lambda: shop.equals_pandas("plain", shop.price("plain", wait=True))) == 0


def test_a_run_fails_where_the_cluster_gives_no_executor_and_says_so(
    tmp_path: Path, cluster: Standalone
) -> None:
    shop = Shop(tmp_path, cluster)
    wait = {LIMIT: "10s"}

    def begins_without() -> None:
        with pytest.raises(ClusterRefused, match="has given no executor for 10 s") as refused:
            shop.price("plain", conf={**wait, "spark.executor.memory": "64g"})
        assert "spark.executor.memory" in refused.value.hint

    def loses_all() -> None:
        with pytest.raises(Exception, match=r"Job .* cancelled") as failed:
            shop.price("plain", wait=True, conf=wait)
        assert "cancelled because the cluster has given no executor for 10 s" in failure_text(
            failed.value, tmp_path
        )

    assert in_child(begins_without) == 0
    driver = fork(loses_all, DRIVER_SECONDS)
    shop.wait_for_writers()
    for number in range(2):
        cluster.kill_worker(number)
    assert end(driver) == 0
    cluster.start_worker()
    (shop.flags / "go on").touch()
    assert in_child(lambda: shop.equals_pandas("plain", shop.price("plain", wait=True))) == 0


@pytest.mark.parametrize(
    ("tests", "which", "effort"),
    [(CRASH_TABLE, "parquet", WHOLE), pytest.param(KILLS, "", "1", marks=pytest.mark.iceberg)],
)
def test_the_kill_tests_pass_on_a_cluster(cluster: Standalone, tests: str, which: str, effort: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tests]
    environment = {**os.environ, "TESTS_MASTER": cluster.master, "TESTS_EFFORT": effort}
    done = subprocess.run(
        [*command, *(["-k", which] if which else [])],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:]
