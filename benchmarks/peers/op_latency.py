"""From an event to the begin of its run's op: by the host with each launcher, and by plain Dagster.

The session is a dummy, so that what counts is all that happens before the program's own code. Plain Dagster
is an asset sensor at its shortest interval, with the run queue and the launcher that an instance has without
settings. Each way has a project and an instance of its own. An event is reported when the run before it has
ended.
"""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta

from dagster import AssetKey, AssetMaterialization, DagsterEventType, DagsterInstance, DagsterRun, RunsFilter

from benchmarks.aims import verdict
from benchmarks.peers.host import plain_sensor, printed
from benchmarks.project import deployed_project, dummy_sessions
from benchmarks.runs import TRIVIAL_PROGRAM
from tidegate.dagster_defs.deployed.tags import SCHEDULE
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import DEVELOPMENT, Site, site_of
from tidegate.project.settings.settings import load_settings

SAMPLES, PLAIN_SAMPLES, SHORT_PLAIN_SAMPLES = 20, 10, 4
AIM_SECONDS = 1.0
"""At the 95th percentile, for the host with the launcher of development."""

LOOK_SECONDS = 0.05
GIVES_UP_SECONDS = 120.0

_APP = """\
app: bench
datasets:
  raw: {partitions: {cycle: day, start: 2020-01-01}, path: landing/raw}
programs:
  load: {run: trivial.run}
schedules:
  load: {program: load, status: active, trigger: {partitions: {dataset: raw}}}
"""
_PLAIN = f"""\
{plain_sensor("raw")}

defs = dg.Definitions(jobs=[plain_job], sensors=[plain_sensor])
"""


def main(*, short: bool = False) -> int:
    """Measure, print, and return 1 if the host misses its aim."""
    samples = SHORT_PLAIN_SAMPLES if short else PLAIN_SAMPLES
    with _site("telemetry: {enabled: false}\n") as site:
        plain = _measured(replace(site, module="plain_definitions"), DagsterProcesses.start_daemon, samples)
    printed("op", "a plain asset sensor, 1 s", plain)
    worst = 0.0
    for mode in ("warm", "fork"):
        with _site(DEVELOPMENT.replace("mode: fork", f"mode: {mode}")) as site:
            found = _measured(site, DagsterProcesses.start_host, SAMPLES)
        worst = printed("op", f"the host, {mode}", found)[1]
    return verdict("event to op, p95, by the host, fork", worst, AIM_SECONDS, " s")


@contextmanager
def _site(settings: str) -> Generator[Site]:
    files = {"trivial.py": TRIVIAL_PROGRAM, "plain_definitions.py": _PLAIN}
    with deployed_project({"bench": _APP}, settings, files) as folder, dummy_sessions(folder):
        yield site_of(load_settings(folder))


def _measured(site: Site, drive: Callable[[DagsterProcesses], object], samples: int) -> list[float]:
    """Return the seconds of samples, after a first run."""
    with DagsterProcesses(site) as processes:
        processes.start_code_server()
        with DagsterInstance.from_config(str(site.home)) as instance:
            drive(processes)
            return [_sample(instance, day) for day in range(samples + 1)][1:]


def _sample(instance: DagsterInstance, day: int) -> float:
    """Return the seconds from the report of an event to the begin of its op."""
    began = time.time()
    instance.report_runless_asset_event(
        AssetMaterialization(
            AssetKey(["bench", "raw"]), partition=str(date(2020, 1, 1) + timedelta(days=day))
        )
    )
    until = time.monotonic() + GIVES_UP_SECONDS
    while (run := _newest(instance, day)) is None or not run.is_finished:
        if time.monotonic() > until:
            raise TimeoutError(f"no run has ended within {GIVES_UP_SECONDS:.0f} s")
        time.sleep(LOOK_SECONDS)
    (begun, *_) = instance.all_logs(run.run_id, of_type=DagsterEventType.STEP_START)
    return begun.timestamp - began


def _newest(instance: DagsterInstance, day: int) -> DagsterRun | None:
    """Return the run of the event of a day; None until it exists."""
    for tags in ({"plain": "yes"}, {SCHEDULE: "bench/load"}):
        runs = instance.get_runs(RunsFilter(tags=tags))
        if len(runs) > day:
            return runs[0]
    return None


if __name__ == "__main__":
    sys.exit(main())
