"""A burst of trivial runs through the path of a project: events, host, Dagster's queue, warm workers.

The events are reported as fast as Dagster takes them, which is faster than runs end, so that Dagster's queue
has most of the runs. What counts is the runs in a minute, from the first start to the last end;
the processor time of a run, over all processes of the project; and how long a place is free while a run is
queued: from the end of a run to the start of the one that takes its place. `benchmarks/runs.py` launches each
run when the one before has ended, so its runs never wait in the queue.

A machine differs from another one, and an hour from the next: the seconds of a loop of three million turns
are printed beside the figures, on the processor of the same minute.
"""

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from statistics import median

from dagster import (
    AssetKey,
    AssetMaterialization,
    DagsterEventType,
    DagsterInstance,
    DagsterRunStatus,
    RunsFilter,
)

from benchmarks.aims import verdict
from benchmarks.peers.host import at_percent
from benchmarks.processor import calibrated, seconds_of
from benchmarks.project import deployed_project, dummy_sessions
from benchmarks.runs import TRIVIAL_PROGRAM
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import DEVELOPMENT, site_of
from tidegate.project.settings.settings import load_settings

RUNS, SHORT_RUNS = 120, 40
AIMS = {2: 600.0, 4: 800.0}
"""Runs a minute, by the places."""

AIM_PROCESSOR_SECONDS = 0.14
"""A run, in all processes, on a machine whose loop takes `AIM_LOOP_SECONDS`."""

AIM_LOOP_SECONDS = 0.16
AIM_IDLE_SECONDS = 0.02
"""A place, at the median, while a run is queued."""

LOOK_SECONDS = 0.2
GIVES_UP_SECONDS = 600.0
SUCCESSFUL = RunsFilter(statuses=[DagsterRunStatus.SUCCESS])
FAILED = RunsFilter(statuses=[DagsterRunStatus.FAILURE])

_APP = """\
app: bench
datasets:
  raw: {partitions: {cycle: day, start: 2020-01-01}, path: landing/raw}
programs:
  load: {run: trivial.run}
schedules:
  load:
    program: load
    status: active
    for_each: partition
    trigger: {partitions: {dataset: raw}}
    constraints: [{concurrency: {max: 9999}}]
"""


def main(*, short: bool = False) -> int:
    """Measure, print, and return the number of missed aims."""
    return sum(_burst(places, SHORT_RUNS if short else RUNS) for places in AIMS)


def _burst(places: int, runs: int) -> int:
    settings = DEVELOPMENT.replace("mode: fork", f"mode: warm\n    workers: {places}")
    settings = settings.replace("max_concurrent_runs: 4", f"max_concurrent_runs: {places}")
    with _started(settings) as (processes, instance):
        processes.start_host()
        # They start the run server, its workers, and what each process loads at its first run.
        _report(instance, range(2 * places))
        _wait_for(instance, 2 * places)
        loop, before, begun = calibrated(), _processor_seconds(), datetime.now(UTC)
        _report(instance, range(2 * places, 2 * places + runs))
        _wait_for(instance, 2 * places + runs)
        used = _processor_seconds() - before
        rate, idle = _times(instance, runs, places)
        # A loop of the host creates up to a hundred together, at one instant.
        last = max(record.create_timestamp for record in instance.get_run_records(limit=runs))
        created = runs / (last - begun).total_seconds()
    print(
        f"{places} places, {runs} events at once: {rate:6.1f} runs a minute   "
        f"{used / runs:6.3f} CPU s a run   {created:5.1f} created a second   "
        f"end to next start p50 {median(idle):6.3f} s   p95 {at_percent(idle, 95):6.3f} s   "
        f"({loop:.3f} s for the loop)",
        flush=True,
    )
    aim = AIM_PROCESSOR_SECONDS * loop / AIM_LOOP_SECONDS
    return (
        verdict(f"runs a minute from events, {places} places", rate, AIMS[places], larger=True)
        + verdict(f"processor time of a run, {places} places", used / runs, aim, " s")
        + verdict(
            f"a free place while a run is queued, {places} places", median(idle), AIM_IDLE_SECONDS, " s"
        )
    )


@contextmanager
def _started(settings: str) -> Generator[tuple[DagsterProcesses, DagsterInstance]]:
    """Yield the processes of a project, of which code server and daemon run, and its instance."""
    with deployed_project({"bench": _APP}, settings, {"trivial.py": TRIVIAL_PROGRAM}) as folder:
        site = site_of(load_settings(folder))
        with dummy_sessions(folder), DagsterProcesses(site) as processes:
            processes.start_code_server()
            processes.start_daemon()
            with DagsterInstance.from_config(str(site.home)) as instance:
                yield processes, instance


def _report(instance: DagsterInstance, days: range) -> None:
    for day in days:
        key = str(date(2020, 1, 1) + timedelta(days=day))
        instance.report_runless_asset_event(AssetMaterialization(AssetKey(["bench", "raw"]), partition=key))


def _wait_for(instance: DagsterInstance, runs: int) -> None:
    """Wait until so many runs have ended, all of them well."""
    until = time.monotonic() + GIVES_UP_SECONDS
    while (ended := instance.get_runs_count(SUCCESSFUL)) < runs:
        for run in instance.get_runs(FAILED, limit=1):
            (failure,) = instance.all_logs(run.run_id, of_type=DagsterEventType.RUN_FAILURE)
            raise RuntimeError(f"run {run.run_id}: {failure.message}")
        if time.monotonic() > until:
            raise TimeoutError(f"{ended} of {runs} runs have ended within {GIVES_UP_SECONDS:.0f} s")
        time.sleep(LOOK_SECONDS)


def _processor_seconds() -> float:
    """Return the processor time of this process's descendants: the processes of the project."""
    return seconds_of({os.getpid()}) - time.process_time()


def _times(instance: DagsterInstance, runs: int, places: int) -> tuple[float, list[float]]:
    """Return the runs a minute of the newest runs, and the seconds that places were free."""
    starts, ends = list[float](), list[float]()
    for run in instance.get_runs(SUCCESSFUL, limit=runs):
        for kind, found in ((DagsterEventType.RUN_STARTING, starts), (DagsterEventType.RUN_SUCCESS, ends)):
            found.append(instance.all_logs(run.run_id, of_type=kind)[0].timestamp)
    starts.sort()
    ends.sort()
    idle = [start - end for end, start in zip(ends, starts[places:], strict=False)]
    return 60 * runs / (ends[-1] - starts[0]), idle


if __name__ == "__main__":
    sys.exit(main())
