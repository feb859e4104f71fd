"""The plain-Dagster example as its README says, in a copy of its folder, each command a process."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import tidegate.read
from tests.dagster_dev import dagster_dev, with_checkout
from tests.plain_dagster.reference import COLUMNS, expected, rows
from tidegate.processes.graphql import ask
from tidegate.processes.site import CHECKOUT

pytestmark = [pytest.mark.spark, pytest.mark.dagster, pytest.mark.iceberg]

EXAMPLE = CHECKOUT / "examples" / "plain_dagster"
RUN_SECONDS = 400
DAY = "2013-01-01"
PARTITION = ("--partition", DAY)

LOADED = """
{ workspaceOrError { ... on Workspace { locationEntries { locationOrLoadError {
  __typename ... on PythonError { message }
  ... on RepositoryLocation { repositories { assetNodes { assetKey { path } } schedules { name } } }
} } } } }
"""

OWN_SESSION = '''
"""An asset whose session is that of `PySparkResource`, beside the other assets."""

from dagster import Definitions, asset
from dagster_pyspark import PySparkResource

from delays.assets import flights
from tidegate import TidegateIOManager

tables = TidegateIOManager(app="delays")
conf = {**tables.spark_properties(), "spark.ui.enabled": "false", "spark.app.name": "of-the-user"}


@asset(partitions_def=flights.partitions_def, metadata={"tidegate/format": "iceberg"})
def by_tail(flights, pyspark: PySparkResource):
    for session in (flights.sparkSession, own.spark_session, pyspark.spark_session):
        assert session.sparkContext.appName == "of-the-user"
    return pyspark.spark_session.createDataFrame(flights.groupBy("tailnum").count().toPandas())


session = PySparkResource(spark_config=conf)
own = TidegateIOManager(app="delays", pyspark=session)
defs = Definitions(assets=[flights, by_tail], resources={"io_manager": own, "pyspark": session})
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the example."""
    copy = tmp_path / "plain_dagster"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("warehouse", ".*", "__pycache__"))
    for name in ("DAGSTER_HOME", "TIDEGATE_PROJECT", "TIDEGATE_STORE_URL"):
        monkeypatch.delenv(name, raising=False)
    yield copy


def commands(beginning: str) -> list[list[str]]:
    """The commands of the README that begin so, as they are written there."""
    lines = (EXAMPLE / "README.md").read_text().splitlines()
    return [shlex.split(line) for line in lines if line.startswith(beginning)]


def run(folder: Path, command: Sequence[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": with_checkout()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-8000:]


def check(folder: Path, spark: SparkSession, *names: str) -> None:
    """These tables equal those of pandas."""
    tables = expected((DAY,))
    for name in names:
        found = tidegate.read.spark(spark, str(folder / "warehouse" / "delays" / name))
        assert rows(found.select(*COLUMNS[name]).toPandas()) == tables[name]


def test_the_commands_of_the_readme(folder: Path, spark: SparkSession) -> None:
    assert commands("dagster dev") == [["dagster", "dev"]]
    of_a_day, _ = commands("dagster asset materialize")
    assert DAY in of_a_day

    with ThreadPoolExecutor() as pool:
        loaded = pool.submit(run, folder, of_a_day)
        with dagster_dev(folder) as url:
            (entry,) = ask(url, LOADED, {})["workspaceOrError"]["locationEntries"]
        (repository,) = entry["locationOrLoadError"]["repositories"]
        loaded.result()

    assets = {node["assetKey"]["path"][-1] for node in repository["assetNodes"]}
    assert assets == {"flights", "by_carrier", "loads", "carriers"}
    assert [schedule["name"] for schedule in repository["schedules"]] == ["tidegate_recover_commits"]
    check(folder, spark, "flights", "by_carrier", "loads")


@pytest.mark.soak  # of a table without partitions: dagster_defs/io_manager/test_publish.py
def test_the_last_command_of_the_readme(folder: Path, spark: SparkSession) -> None:
    of_a_day, whole = commands("dagster asset materialize")
    run(folder, of_a_day)

    run(folder, whole)

    check(folder, spark, "carriers")


@pytest.mark.soak  # such a session, in this process: dagster_defs/io_manager/test_dead_jvm.py
def test_a_session_of_dagster_pyspark(folder: Path, spark: SparkSession) -> None:
    of_a_day, _ = commands("dagster asset materialize")
    (folder / "own_session.py").write_text(OWN_SESSION)
    run(folder, of_a_day)

    run(folder, ["dagster", "asset", "materialize", "-m", "own_session", "--select", "by_tail", *PARTITION])

    tails = spark.read.format("iceberg").load(str(folder / "warehouse" / "delays" / "by_tail"))
    assert sum(row["count"] for row in tails.collect()) == len(expected((DAY,))["flights"])
