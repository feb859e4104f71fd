"""A user's project whose folders have our names, beside an installed package of such a name."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installed.environment import Installed
from tidegate.processes.site import Site

pytestmark = [pytest.mark.dagster, pytest.mark.endurance]

FOLDERS = ("compiler", "scheduler", "spark_jobs", "dagster_defs", "tests")
DAY = "2025-06-01"

APP = f"""\
app: own
timezone: UTC
datasets:
  orders: {{partitions: {{cycle: day, start: {DAY}}}, path: landing/orders}}
  sales: {{partitions: {{cycle: day, start: {DAY}}}}}
programs:
  sales: {{run: spark_jobs.x.run, reads: [orders], writes: [sales]}}
  note: {{run: spark_jobs.x.note}}
schedules:
  sales: {{program: sales, for_each: day, trigger: {{partitions: {{dataset: orders}}}}, status: active}}
  note: {{program: note, trigger: {{cron: "0 8 * * *"}}, status: active}}
examples:
  - name: a day starts when it has landed
    start: {DAY}T06:00:00Z
    given: [{{at: +0s, partitions: {{dataset: orders, keys: [{DAY}]}}}}]
    until: +1h
    expect: [{{at: +0s, launch: sales, partitions: [{DAY}]}}]
"""

PROGRAM = '''
"""A program in a folder of the user's own."""

from compiler import MINE
from scheduler import MINE as ALSO_MINE


def run(spark, inputs, params):
    return spark.createDataFrame([(params.partitions[0], MINE, ALSO_MINE)], "day string, a string, b string")


def note(spark, inputs, params):
    print("noted", MINE, ALSO_MINE)
    return {}
'''

LAUNCH = """
from unittest.mock import MagicMock

from dagster import AssetKey, DagsterInstance
import tidegate.compiler, tidegate.scheduler, tidegate.spark_jobs, tidegate.dagster_defs
from tidegate.dagster_defs.definitions.definitions import build_definitions
from tidegate.definitions import location_of
from tidegate.project.settings.settings import load_settings
from tidegate.spark_jobs.session import session

# Spark does not decide where modules are found, and its start would be most of the work.
session._start = lambda _: MagicMock(**{"sparkContext.uiWebUrl": None})
job = build_definitions(location_of(load_settings())).get_implicit_global_asset_job_def()
with DagsterInstance.ephemeral() as instance:
    result = job.execute_in_process(
        instance=instance, asset_selection=[AssetKey(["own", "note"])]
    )
    for event in result.get_asset_materialization_events():
        print("published", event.asset_key.path)
"""


@pytest.fixture(scope="module")
def own(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The user's project; a foreign package `scheduler` is installed in the environment meanwhile."""
    foreign = installed.packages / "scheduler"
    foreign.mkdir()
    (foreign / "__init__.py").write_text("MINE = 'not mine'\n")
    folder = tmp_path_factory.mktemp("own")
    for name in FOLDERS:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("MINE = 'mine'\n")
    (folder / "spark_jobs" / "x.py").write_text(PROGRAM)
    (folder / "schedules").mkdir()
    (folder / "schedules" / "own.yaml").write_text(APP)
    (folder / "tidegate.toml").write_text(
        '[spark]\nmaster = "local[1]"\n[warehouse]\ndefault_format = "parquet"\n'
    )
    yield folder
    shutil.rmtree(foreign)


@pytest.fixture(scope="module")
def deployed(installed: Installed, own: Path) -> str:
    """What the deployment says."""
    return installed.run("tidegate", "deploy", cwd=own)


def test_the_yaml_is_checked_tested_and_deployed(installed: Installed, own: Path, deployed: str) -> None:
    assert "ok: 1 app" in installed.run("tidegate", "lint", cwd=own)
    assert "1 passed" in installed.run("tidegate", "test", cwd=own)
    assert "2 to create" in deployed


@pytest.mark.usefixtures("deployed")
def test_a_program_of_its_own_folder_is_launched(installed: Installed, own: Path) -> None:
    # The path with which Dagster's processes are started, as long as the checkout is not installed.
    said = installed.run("python", "-c", LAUNCH, cwd=own, more={"PYTHONPATH": str(own)})

    assert "noted mine mine" in said
    assert "published ['own', 'note']" in said


def test_the_project_comes_first_on_the_path_of_the_processes(tmp_path: Path) -> None:
    site = Site(project=tmp_path / "own", home=tmp_path, logs=tmp_path)

    assert site.process_environment()["PYTHONPATH"].startswith(f"{tmp_path / 'own'}:")
