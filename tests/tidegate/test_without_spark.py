"""`pip install tidegate` alone brings neither Spark nor a Java: whatever needs no session works without them.

Spark is hidden from all processes of these tests, as if it were not installed: by a `sitecustomize`, which
Python loads first. A program needs Spark, and its run says what to install.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.installed.environment import HIDE_SPARK
from tests.server.process import ServerProcess
from tidegate.server.problem import Problem
from tidegate.server.routes.commits import spark_or_refusal
from tidegate.spark_jobs.errors import SparkMissing, needs_spark

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXTRA = "pip install 'tidegate[iceberg]', or 'tidegate[spark]'"
WAIT_SECONDS = 120
OVER = ("FAILED", "DEAD")


class Plain:
    """A new project on a machine without Spark, and the commands that its user calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "shop"
        hidden = folder / "hidden"
        hidden.mkdir()
        (hidden / "sitecustomize.py").write_text(HIDE_SPARK)
        self.path = os.pathsep.join([str(hidden), str(ROOT)])
        self.call("init", str(self.folder), cwd=folder)

    def call(self, *words: str, exit_code: int = 0, cwd: Path | None = None) -> str:
        """Call `tidegate`, and return what it prints on both outputs."""
        found = subprocess.run(
            [sys.executable, "-m", "tidegate.cli.main", *words],
            cwd=cwd or self.folder,
            env={**os.environ, "PYTHONPATH": self.path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert found.returncode == exit_code, found.stdout
        return found.stdout


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plain]:
    """A project that is deployed."""
    made = Plain(tmp_path_factory.mktemp("plain"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(made.folder))
        assert f"install here what it imports ({EXTRA}" in made.call("plan", exit_code=2)
        assert "1 to create" in made.call("deploy", "--yes", "--no-imports")
        yield made


def test_another_missing_module_stays_what_it_is() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), needs_spark():
        import_module("no_such_module")


def test_a_missing_spark_names_the_extra() -> None:
    with pytest.raises(SparkMissing) as caught, needs_spark():
        raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark")

    assert EXTRA in caught.value.hint


def test_a_project_is_checked_and_inspected(plain: Plain) -> None:
    assert 'default_format = "parquet"' in (plain.folder / "tidegate.toml").read_text()
    assert "\ntidegate[iceberg] @ " in (plain.folder / "requirements.txt").read_text()
    assert "ok: 1 app" in plain.call("lint")
    assert "1 passed" in plain.call("test")
    assert "2 tables not looked at: Spark is not installed here" in plain.call("doctor", exit_code=1)
    assert plain.call("commits", "list")


def test_a_command_that_starts_spark_names_the_extra(plain: Plain) -> None:
    said = plain.call("run", "shop/daily_sales", "--key", "2025-06-01", exit_code=1)

    assert "error: Spark is not installed here" in said and EXTRA in said


def test_a_server_without_spark_decides_about_no_withheld_publish() -> None:
    with pytest.raises(Problem) as caught, spark_or_refusal():
        raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark")

    assert caught.value.status == 409


@pytest.mark.dagster
def test_server_host_and_code_location_work_and_a_run_names_the_extra(
    plain: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    trigger = ("schedules", "trigger", "shop/sales_of_a_day", "--key", "2025-06-01")
    plain.call(*trigger, "--reason", "see what its run says")
    monkeypatch.setattr(sys, "path", [*plain.path.split(os.pathsep), *sys.path])
    server = ServerProcess(plain.folder)
    try:
        until, job = monotonic() + WAIT_SECONDS, {"state": "", "id": ""}
        with server.client() as client:
            while job["state"] not in OVER and monotonic() < until:
                sleep(0.5)
                job = client.get("/v3/namespaces/default/jobs").raise_for_status().json()["items"][0]
        assert server.end(signal.SIGTERM) == 0
    finally:
        server.process.kill()
        said = server.output()

    assert job["state"] in OVER, said
    why = plain.call("why", job["id"])
    assert "Spark is not installed here" in why and EXTRA in why
