"""Workers that take one run after the other: what one run leaves to the next, and when a worker ends.

Spark is a dummy here; `tests/spark_jobs/session/test_renewal.py` has what a run leaves in Spark.
"""

import os
import signal
from pathlib import Path

import pytest
from dagster import DagsterRunStatus

from tests.launcher.quick import PRELOAD, PROGRAMS, Quick
from tidegate.launcher.config import LauncherConfig, Mode
from tidegate.launcher.warm.worker import MEGABYTE, within_limits

pytestmark = pytest.mark.dagster

RUNS = 6
"""A worker of these tests ends after so many."""

CONFIG = LauncherConfig(mode=Mode.WARM, workers=1, worker_runs=RUNS, worker_growth_mb=64, preload=PRELOAD)


@pytest.fixture(autouse=True)
def warm(quick: Quick, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick.launcher, "config", CONFIG)


def worker_of(quick: Quick, program: str = "done") -> int:
    """Execute a run, and return the process of its worker once that waits for the next one, or has ended."""
    run_id = quick.launch(program)
    assert quick.ended(run_id).status is DagsterRunStatus.SUCCESS
    quick.until("its record is removed", lambda: quick.record(run_id) is None)
    said = quick.folder / ("traces" if program == "dirty" else "said")
    return int(said.read_text().split()[0 if program == "dirty" else 1])


def test_a_worker_takes_the_next_run_and_nothing_of_the_run_before_is_left(quick: Quick) -> None:
    first = worker_of(quick, "dirty")
    assert worker_of(quick, "dirty") == first
    assert (quick.folder / "traces").read_text() == f"{first} False"
    assert not (quick.folder / "elsewhere" / "traces").exists()


def test_a_worker_takes_runs_of_other_programs_and_goes_on_after_one_that_fails(quick: Quick) -> None:
    before = worker_of(quick)
    failed = quick.launch("fail")

    assert quick.ended(failed).status is DagsterRunStatus.FAILURE
    assert "ValueError: no fares for the day (quick_programs.py:" in quick.text(failed)
    quick.until("its record is removed", lambda: quick.record(failed) is None)
    assert worker_of(quick, "dirty") == before


@pytest.mark.soak  # the next test waits for that; how many: test_each_limit_ends_a_worker
def test_a_worker_ends_after_its_last_run(quick: Quick) -> None:
    pids = [worker_of(quick) for _ in range(2 * RUNS)]

    assert max(map(pids.count, pids)) == RUNS


def test_a_worker_that_has_grown_since_its_first_run_takes_no_further_one(quick: Quick) -> None:
    used = worker_of(quick)
    while (first := worker_of(quick)) == used:
        pass

    assert worker_of(quick, "grow") == first
    assert worker_of(quick) != first


@pytest.mark.parametrize(
    ("runs", "seconds", "growth", "expected"),
    [(2, 59, 1, True), (3, 59, 1, False), (2, 60, 1, False), (2, 59, 2 * MEGABYTE, False)],
    ids=["within_all", "runs", "minutes", "growth"],
)
def test_each_limit_ends_a_worker(runs: int, seconds: float, growth: int, expected: bool) -> None:
    config = LauncherConfig(worker_runs=3, worker_minutes=1, worker_growth_mb=2)
    assert within_limits(config, runs, seconds, growth) is expected


def test_a_changed_program_is_executed_by_a_new_worker(quick: Quick) -> None:
    before = worker_of(quick)
    quick.programs.write_text(PROGRAMS.replace('"first"', '"third"'))

    assert worker_of(quick) != before
    assert (quick.folder / "said").read_text().startswith("third ")


def test_settings_that_change_during_a_run_are_read_by_a_new_worker(quick: Quick) -> None:
    before = worker_of(quick, "reconfigure")

    assert worker_of(quick) != before


@pytest.mark.soak  # the same calls as of a forked run: test_fork.py
def test_a_cancelled_run_and_a_killed_one_end_alone(quick: Quick) -> None:
    cancelled, killed, other = (quick.launch("wait") for _ in range(3))
    processes = [quick.waiting(run_id) for run_id in (cancelled, killed, other)]
    assert len(set(processes)) == 3

    assert quick.launcher.terminate(cancelled)
    os.kill(processes[1], signal.SIGKILL)

    assert quick.ended(cancelled).status is DagsterRunStatus.CANCELED
    assert quick.ended(killed).status is DagsterRunStatus.FAILURE
    assert f"its process {processes[1]} was ended by SIGKILL" in quick.text(killed)
    assert quick.run(other).status is DagsterRunStatus.STARTED
    assert worker_of(quick) not in processes
    assert quick.launcher.terminate(other)
    assert quick.ended(other).status is DagsterRunStatus.CANCELED


def test_a_worker_with_a_thread_that_goes_on_takes_no_further_run(quick: Quick) -> None:
    lingers = quick.launch("linger")
    assert quick.ended(lingers).status is DagsterRunStatus.SUCCESS

    quick.ended(quick.launch("done"))

    assert f"(pid: {(quick.folder / 'said').read_text().split()[1]})" not in quick.text(lingers)
    (quick.folder / "linger-no-more").touch()


def test_a_run_outlives_its_server_and_its_worker_ends_with_it(quick: Quick) -> None:
    process = quick.waiting(run_id := quick.launch("wait"))
    (name,) = quick.servers(run_id)

    os.kill(int(name.split("/")[1]), signal.SIGKILL)
    quick.until("the server's end", lambda: not quick.servers(run_id))

    assert quick.launcher.terminate(run_id)
    assert quick.ended(run_id).status is DagsterRunStatus.CANCELED
    quick.until("the worker's end", lambda: not Path(f"/proc/{process}").exists())
