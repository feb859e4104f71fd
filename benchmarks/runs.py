"""What a run costs: by Dagster's default launcher, as a fork of a loaded process, and in a warm worker.

A code server for each, and two threads that launch a run by themselves and wait for its end, one after the
other; for warm workers also four threads, and one alone. No run waits in the queue (`benchmarks/queue.py`).
What counts is the number of runs in a minute, and the time from the launch of a run to the begin of its op.
Tidegate's launchers run with the settings that are shipped for development, Dagster's with its own defaults.
Trivial runs have a dummy for a session; the others write one row to a Parquet dataset. At the end a worker is
killed, and the time until its run has failed is measured.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from statistics import median
from typing import TypeVar

from dagster import AssetKey, DagsterEventType, DagsterInstance, DagsterRunStatus, RunRequest

from benchmarks.aims import verdict
from benchmarks.project import deployed_project, dummy_sessions
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB
from tidegate.dagster_defs.host.runs import Runs, run_id_of
from tidegate.dagster_defs.internals.workspace import WorkspaceFileTarget, WorkspaceProcessContext
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import DEVELOPMENT, site_of
from tidegate.project.settings.settings import load_settings

AT_ONCE, MOST_AT_ONCE = 2, 4
RUNS = {"trivial": 20, "row": 6}
SHORT_RUNS = {"trivial": 6, "row": 2}
"""Runs of each kind and launcher, after one that starts what is shared; short ones of others than `warm`."""

WARM_RUNS = {"trivial": 60, "row": 20}
AIM_A_MINUTE = 250
"""Trivial runs, by warm workers, four at a time."""

AIM_SECONDS = 2.0
"""From the launch of a one-row run to its end, alone in a warm worker."""

AIM_DEAD_SECONDS = 5.0
"""From the death of a worker to the failure of its run."""

KILLED = 3
"""Workers, one after the other."""

LOOK_SECONDS = 0.05
GIVES_UP_SECONDS = 600.0

_APP = """\
app: bench
datasets: {row: {format: parquet}}
programs:
  trivial: {run: trivial.run}
  row: {run: row.run, writes: [row]}
  sleep: {run: sleep.run}
schedules: {}
"""
TRIVIAL_PROGRAM = """\
def run(spark, inputs, params):
    return {}
"""
_SLEEP = """\
import time


def run(spark, inputs, params):
    time.sleep(600)
    return {}
"""
_ROW = """\
def run(spark, inputs, params):
    return spark.createDataFrame([(1,)], "number int")
"""
_DAGSTER = """\
telemetry: {enabled: false}
run_coordinator: {module: dagster.core.run_coordinator, class: DefaultRunCoordinator}
"""
LAUNCHERS = {
    "Dagster's default": _DAGSTER,
    "fork": DEVELOPMENT,
    "warm": DEVELOPMENT.replace("mode: fork", "mode: warm"),
}


T = TypeVar("T")


def main(*, short: bool = False) -> int:
    """Measure, print, and return the number of missed aims."""
    missed = 0
    for launcher, settings in LAUNCHERS.items():
        usual = WARM_RUNS if launcher == "warm" else (SHORT_RUNS if short else RUNS)
        for program, runs in usual.items():
            rate, _ = _measured(launcher, settings, program, runs)
            if launcher == "warm" and program == "trivial":
                rate = max(rate, _measured(launcher, settings, program, runs, MOST_AT_ONCE)[0])
                missed += verdict("trivial runs a minute, warm", rate, AIM_A_MINUTE, larger=True)
            elif launcher == "warm":
                _, seconds = _measured(launcher, settings, program, runs // 2, 1)
                missed += verdict("a one-row Spark run, alone, warm", seconds, AIM_SECONDS, " s")
    dead = _until_failed(LAUNCHERS["warm"])
    missed += verdict("a killed worker's run has failed, warm", dead, AIM_DEAD_SECONDS, " s")
    return missed


def _measured(
    launcher: str, settings: str, program: str, runs: int, at_once: int = AT_ONCE
) -> tuple[float, float]:
    """Print and return the runs a minute, and the seconds of a run."""
    with _served(settings, spark=program != "trivial") as (instance, submit):
        _executed(instance, submit, [f"{program}-first-{n}" for n in range(at_once)], program)
        keys = [f"{program}-{number}" for number in range(runs)]
        began = time.perf_counter()
        starts = _executed(instance, submit, keys, program, at_once)
        seconds = time.perf_counter() - began
    rate, each = 60 * runs / seconds, at_once * seconds / runs
    print(
        f"{launcher:18} {program:8} {at_once} at once {rate:7.1f} runs a minute   "
        f"launch to op {median(starts):6.2f} s   {each:6.2f} s a run",
        flush=True,
    )
    return rate, each


def _until_failed(settings: str) -> float:
    """Kill the workers of runs, and return the seconds until the slowest of them has failed."""
    with _served(settings) as (instance, submit):
        return max(_killed(instance, submit, f"sleep-{number}") for number in range(KILLED))


def _killed(instance: DagsterInstance, submit: Runs, key: str) -> float:
    run_id = _launch(submit, key, "sleep")
    begun = _awaited(f"the op of {key}", lambda: instance.all_logs(run_id, DagsterEventType.STEP_START))
    pid = begun[0].get_dagster_event().pid
    assert pid
    os.kill(pid, signal.SIGKILL)
    killed = time.time()
    failed = _awaited(f"the end of {key}", lambda: instance.all_logs(run_id, DagsterEventType.RUN_FAILURE))
    return failed[0].timestamp - killed


@contextmanager
def _served(settings: str, *, spark: bool = True) -> Iterator[tuple[DagsterInstance, Runs]]:
    """A deployed project and its code server.

    Args:
        spark: its runs start Spark.
    """
    files = {"trivial.py": TRIVIAL_PROGRAM, "row.py": _ROW, "sleep.py": _SLEEP}
    with deployed_project({"bench": _APP}, settings, files) as folder:
        site = site_of(load_settings(folder))
        with nullcontext() if spark else dummy_sessions(folder), DagsterProcesses(site) as processes:
            processes.start_code_server()
            with (
                DagsterInstance.from_config(str(site.home)) as instance,
                WorkspaceProcessContext(instance, WorkspaceFileTarget([str(site.workspace)])) as workspace,
            ):
                yield instance, Runs(instance, workspace, "bench")


def _executed(
    instance: DagsterInstance, submit: Runs, keys: list[str], program: str, at_once: int = MOST_AT_ONCE
) -> list[float]:
    """Execute runs, and return the seconds from the launch to the begin of the op of each."""
    with ThreadPoolExecutor(at_once) as threads:
        return list(threads.map(lambda key: _run(instance, submit, key, program), keys))


def _run(instance: DagsterInstance, submit: Runs, key: str, program: str) -> float:
    launched = time.time()
    run_id = _launch(submit, key, program)
    run = _awaited(
        f"the end of {key}",
        lambda: run if (run := instance.get_run_by_id(run_id)) and run.is_finished else None,
    )
    if run.status is not DagsterRunStatus.SUCCESS:
        raise RuntimeError(f"{program} {key}: {run.status}")
    begun = instance.all_logs(run_id, of_type=DagsterEventType.STEP_START)
    return begun[0].timestamp - launched


def _launch(submit: Runs, key: str, program: str) -> str:
    asset = AssetKey(["bench", program])
    submit.submit(RunRequest(run_key=key, job_name=ALL_ASSETS_JOB, asset_selection=[asset]), {})
    return run_id_of(key)


def _awaited(what: str, look: Callable[[], T | None]) -> T:
    """Look again and again until there is something to see."""
    until = time.monotonic() + GIVES_UP_SECONDS
    while not (found := look()):
        if time.monotonic() > until:
            raise TimeoutError(f"{what} has not come within {GIVES_UP_SECONDS:.0f} s")
        time.sleep(LOOK_SECONDS)
    return found


if __name__ == "__main__":
    sys.exit(main())
