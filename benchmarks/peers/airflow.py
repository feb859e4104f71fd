"""Airflow 3 at its best settings: from an event to the begin of its task, and runs created a second.

It has its own environment, `.venv-airflow`, which `make bench-peers` sets up. Scheduler, API server and DAG
processor run on PostgreSQL, as its documentation asks for, with the local executor and without a pause
between two loops of the scheduler. An event is an asset event over REST. A task of one DAG notes when its
first line runs; then one event makes a run of each of many DAGs, whose tasks do nothing. `op_latency` and
`burst` measure the same of us.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from benchmarks.deployed import databases
from benchmarks.peers.burst import LOOK_SECONDS
from benchmarks.peers.host import printed
from tidegate.processes.code_servers import HOST, free_port

ENVIRONMENT = Path(__file__).parents[2] / ".venv-airflow"
DAGS, SHORT_DAGS = 500, 200
SAMPLES, SHORT_SAMPLES = 20, 6
READY_SECONDS, STOPS_SECONDS, TASK_LOOK_SECONDS = 300.0, 300.0, 0.01
PROCESSES = (("scheduler",), ("dag-processor",), ("api-server", "--workers", "1", "--host", HOST))
_DAGS = """\
import time
from pathlib import Path

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import Asset, dag, task


@dag(schedule=[Asset("one")])
def alone():
    @task
    def begin():
        now = time.time()
        Path({began!r}, str(now)).touch()

    begin()


alone()
for number in range({dags}):

    @dag(dag_id=f"of_many_{{number}}", schedule=[Asset("many")])
    def of_many():
        EmptyOperator(task_id="nothing")

    of_many()
"""


class Api:
    """The REST API of a running Airflow."""

    def __init__(self, port: int) -> None:
        self._client = httpx.Client(base_url=f"http://{HOST}:{port}", timeout=30)

    def sign_in(self) -> bool:
        """Sign in, and return whether the API answers."""
        try:
            token = self._client.get("/auth/token").json()["access_token"]
        except (httpx.TransportError, json.JSONDecodeError):
            return False
        self._client.headers["Authorization"] = f"Bearer {token}"
        return True

    def get(self, path: str) -> dict[str, Any]:
        return self._client.get(f"/api/v2{path}").raise_for_status().json()

    def listening(self) -> int:
        """Return how many DAGs are started by the assets that are known."""
        return sum(len(each["scheduled_dags"]) for each in self.get("/assets?limit=10")["assets"])

    def report(self, asset: str) -> None:
        """Report an event of an asset."""
        (found,) = [each for each in self.get("/assets?limit=10")["assets"] if each["name"] == asset]
        body = {"asset_id": found["id"], "extra": {}}
        self._client.post("/api/v2/assets/events", json=body).raise_for_status()

    def created(self, dags: int) -> list[datetime]:
        """Return when the runs of the many DAGs were created."""
        pages = range(0, dags + 1, 100)
        runs = [run for at in pages for run in self.get(f"/dags/~/dagRuns?limit=100&offset={at}")["dag_runs"]]
        return [
            datetime.fromisoformat(run["queued_at"]) for run in runs if run["dag_id"].startswith("of_many")
        ]


def main(*, short: bool = False) -> int:
    """Measure and print; without the environment say what sets it up."""
    if not (ENVIRONMENT / "bin/airflow").exists():
        print("Airflow is not measured: `make bench-peers` installs it")
        return 0
    dags, samples = (SHORT_DAGS, SHORT_SAMPLES) if short else (DAGS, SAMPLES)
    with databases() as made, tempfile.TemporaryDirectory() as home:
        url = made.new("postgres").replace("postgresql://", "postgresql+psycopg2://")
        with _airflow(Path(home), url, dags) as api:
            _ = _sample(api, Path(home))
            printed("task", "Airflow 3", [_sample(api, Path(home)) for _ in range(samples)])
            rate = _rate(api, dags)
    print(f"{f'runs created a second of {dags}, by Airflow 3':58} {rate:8.1f}", flush=True)
    return 0


@contextmanager
def _airflow(home: Path, url: str, dags: int) -> Generator[Api]:
    (home / "dags").mkdir()
    (home / "began").mkdir()
    (home / "dags/bench.py").write_text(_DAGS.format(began=str(home / "began"), dags=dags))
    port = free_port()
    settings = {
        "CORE__LOAD_EXAMPLES": "False",
        "CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "CORE__EXECUTOR": "LocalExecutor",
        "CORE__PARALLELISM": "4",
        "CORE__EXECUTION_API_SERVER_URL": f"http://{HOST}:{port}/execution/",
        "DATABASE__SQL_ALCHEMY_CONN": url,
        "SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": "0.01",
        "SCHEDULER__MAX_DAGRUNS_TO_CREATE_PER_LOOP": "100",
    }
    variables = {**os.environ, "AIRFLOW_HOME": str(home), **{f"AIRFLOW__{k}": v for k, v in settings.items()}}
    command = str(ENVIRONMENT / "bin/airflow")
    with (home / "log").open("w") as log:
        quiet = {"env": variables, "stdout": log, "stderr": log}
        subprocess.run([command, "db", "migrate"], check=True, **quiet)
        started = [
            subprocess.Popen(
                [command, *each, *(["--port", str(port)] if each[0] == "api-server" else [])],
                start_new_session=True,
                **quiet,
            )
            for each in PROCESSES
        ]
        try:
            api = Api(port)
            _until(api.sign_in, READY_SECONDS, home)
            _until(lambda: api.listening() == dags + 1, READY_SECONDS, home)
            yield api
        finally:
            for process in started:
                # With its workers, which are processes of their own.
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _until(reached: Callable[[], bool], seconds: float, home: Path) -> None:
    ends = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > ends:
            raise TimeoutError("\n".join((home / "log").read_text().splitlines()[-20:]))
        time.sleep(LOOK_SECONDS)


def _sample(api: Api, home: Path) -> float:
    """Return the seconds from a report to the first line of its task."""
    before = _began(home)
    at, ends = time.time(), time.monotonic() + STOPS_SECONDS
    api.report("one")
    while not (new := _began(home) - before):
        if time.monotonic() > ends:
            raise TimeoutError("no task has begun")
        time.sleep(TASK_LOOK_SECONDS)
    return float(max(new)) - at


def _began(home: Path) -> set[str]:
    return {each.name for each in (home / "began").iterdir()}


def _rate(api: Api, dags: int) -> float:
    """Return the runs a second that are created after those of the first instant."""
    api.report("many")
    ends = time.monotonic() + STOPS_SECONDS
    while len(found := api.created(dags)) < dags:
        if time.monotonic() > ends:
            raise TimeoutError(f"{len(found)} of {dags} runs were created")
        time.sleep(LOOK_SECONDS)
    first, last = min(found), max(found)
    return (len(found) - Counter(found)[first]) / (last - first).total_seconds()


if __name__ == "__main__":
    sys.exit(main())
