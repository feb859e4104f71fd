"""From an event to its run in Dagster: by the host, by the dispatcher's sensor, and by plain Dagster.

One code server and one daemon serve all, so each sample is taken on the same machine at the same time.
An event is a materialisation that is reported from outside; its run is there when Dagster lists it, in
whatever status. Plain Dagster is an asset sensor and a declarative automation condition, each with an
interval of a second, the shortest one that it has.
"""

import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from random import Random
from statistics import quantiles

from dagster import AssetKey, AssetMaterialization, DagsterInstance, RunsFilter

from benchmarks.aims import verdict
from tidegate.dagster_defs.deployed.tags import SCHEDULE
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import site_of
from tidegate.project.settings.settings import load_settings

SAMPLES, SHORT_SAMPLES = 20, 6
"""By each; short ones are of the sensors only."""

AIM_SECONDS = 0.2
"""At the 95th percentile, for the host."""

PAUSE_SECONDS = 5.0
"""Samples come at random instants of Dagster's round."""

HOST_PAUSE_SECONDS = 1.5
"""Of the host's round, with its rest."""

LOOK_SECONDS = 0.01
GIVES_UP_SECONDS = 60.0

_PLAIN = """\
import dagster as dg


@dg.op
def nothing():
    pass


@dg.job
def plain_job():
    nothing()


@dg.asset_sensor(
    asset_key=dg.AssetKey(["bench", "{dataset}"]),
    job=plain_job,
    minimum_interval_seconds=1,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def plain_sensor(context, asset_event):
    yield dg.RunRequest(run_key=context.cursor, tags={{"plain": "yes"}})
"""


def plain_sensor(dataset: str) -> str:
    """Return a module whose `plain_sensor` starts a run of `plain_job` for each event of a dataset.

    It looks every second, the shortest interval that Dagster has.
    """
    return _PLAIN.format(dataset=dataset)


_APP = """\
app: bench
datasets:
  raw: {partitions: {cycle: day, start: 2020-01-01}, path: landing/raw}
programs:
  load: {run: bench_definitions.load, reads: [raw]}
schedules:
  load:
    program: load
    status: active
    trigger: {partitions: {dataset: raw}}
    constraints: [{concurrency: {max: 999}}]
"""
_DEFINITIONS = f"""\
{plain_sensor("plain")}

from tidegate import definitions as project


@dg.asset(
    deps=[dg.AssetKey(["bench", "condition"])],
    automation_condition=dg.AutomationCondition.any_deps_updated(),
)
def conditioned():
    pass


conditions = dg.AutomationConditionSensorDefinition(
    "conditions",
    target=[conditioned],
    minimum_interval_seconds=1,
    default_status=dg.DefaultSensorStatus.RUNNING,
    run_tags={{"condition": "yes"}},
)


def load(spark, inputs, params):
    return {{}}


@dg.definitions
def defs():
    plain = dg.Definitions(
        assets=[dg.AssetSpec(["bench", "condition"]), conditioned],
        jobs=[plain_job],
        sensors=[plain_sensor, conditions],
    )
    return dg.Definitions.merge(project.defs(), plain)
"""
_DAGSTER = """\
telemetry: {enabled: false}
sensors: {use_threads: true, num_workers: 4}
# Runs are created and queued, and never executed: a run would take the processor from the next sample.
run_coordinator:
  module: dagster.core.run_coordinator
  class: QueuedRunCoordinator
  config: {max_concurrent_runs: 0}
"""


def main(*, short: bool = False) -> int:
    """Measure, print, and return 1 if the host misses its aim."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "schedules").mkdir()
        (folder / "tidegate.toml").write_text('[project]\nname = "bench"\n')
        (folder / "schedules" / "bench.yaml").write_text(_APP)
        (folder / "bench_definitions.py").write_text(_DEFINITIONS)
        (folder / "dagster.yaml").write_text(_DAGSTER)
        subprocess.run([sys.executable, "-m", "tidegate.cli.main", "deploy"], cwd=folder, check=True)
        site = replace(site_of(load_settings(folder)), module="bench_definitions")
        with DagsterProcesses(site) as processes:
            processes.start_code_server()
            processes.start_daemon()
            with DagsterInstance.from_config(str(site.home)) as instance:
                return _measured(instance, processes, SHORT_SAMPLES if short else SAMPLES)


def _measured(instance: DagsterInstance, processes: DagsterProcesses, samples: int) -> int:
    chance, days = Random(1), count()
    _sample(instance, "raw", next(days))  # the processes have started when it is there
    middles: list[float] = []
    for name, dataset in (
        ("a plain asset sensor, 1 s", "plain"),
        ("an automation condition, 1 s", "condition"),
        ("the dispatcher's sensor", "raw"),
    ):
        if dataset != "raw":
            _sample(instance, dataset, next(days))
        seconds: list[float] = []
        for _ in range(samples):
            time.sleep(chance.uniform(0, PAUSE_SECONDS))
            seconds.append(_sample(instance, dataset, next(days)))
        middles.append(printed("run", name, seconds)[0])
    host = processes.start_host()
    # Until then the sensor creates the runs.
    host.wait_until(lambda: " host is active" in host.log.read_text(), GIVES_UP_SECONDS)
    _sample(instance, "raw", next(days))
    found: list[float] = []
    for _ in range(SAMPLES):
        time.sleep(chance.uniform(0, HOST_PAUSE_SECONDS))
        found.append(_sample(instance, "raw", next(days)))
    middle, worst = printed("run", "the host", found)
    print(f"ratio of the medians, the host to the plain sensor: {middle / middles[0]:.3f}")
    return verdict("event to run created, p95, by the host", worst, AIM_SECONDS, " s")


def _sample(instance: DagsterInstance, dataset: str, day: int) -> float:
    """Return the seconds from the report of an event to its run."""
    key = str(date(2020, 1, 1) + timedelta(days=day))
    wanted = RunsFilter(tags={SCHEDULE: "bench/load"} if dataset == "raw" else {dataset: "yes"})
    before = instance.get_runs_count(wanted)
    instance.report_runless_asset_event(
        AssetMaterialization(AssetKey(["bench", dataset]), partition=key if dataset == "raw" else None)
    )
    began = time.perf_counter()
    while instance.get_runs_count(wanted) == before:
        if time.perf_counter() - began > GIVES_UP_SECONDS:
            raise TimeoutError(f"no run of {dataset} {key} within {GIVES_UP_SECONDS:.0f} s")
        time.sleep(LOOK_SECONDS)
    return time.perf_counter() - began


def printed(end: str, name: str, seconds: list[float]) -> tuple[float, float]:
    """Print the median of some samples and their 95th percentile, and return both."""
    middle, worst = at_percent(seconds, 50), at_percent(seconds, 95)
    what = f"from an event to its {end}, by {name}"
    print(f"{what:58} p50 {middle:6.3f} s   p95 {worst:6.3f} s   ({len(seconds)} samples)", flush=True)
    return middle, worst


def at_percent(seconds: list[float], percent: int) -> float:
    """Return a percentile of some samples."""
    return quantiles(seconds, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    sys.exit(main())
