"""Runs that are killed with their run server after their launch, before they begin: found in seconds.

Their op is kept from beginning by a lock on the store, in which it would record its process.
"""

import os
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from dagster import DagsterEvent, DagsterEventType, DagsterRunStatus

from tests.doubles.dead_process import of_a_dead_process
from tests.launcher.quick import PROGRAMS, Quick
from tidegate.dagster_defs.coordinator import LaunchingCoordinator
from tidegate.dagster_defs.coordinator.daemon import note_daemon
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.plan_state import deployed_plan
from tidegate.dagster_defs.deployed.tags import LAUNCH
from tidegate.dagster_defs.internals.instance import ConfigurableClassData
from tidegate.dagster_defs.internals.launching import WorkerStatus
from tidegate.dagster_defs.run.dead_runs import SETTLED_SECONDS, end_dead_runs
from tidegate.launcher.config import LauncherConfig
from tidegate.launcher.launcher import LaunchNote
from tidegate.project.location import location_of
from tidegate.scheduler.launch.owners import owners
from tidegate.spark_jobs.commit.process import ProcessState, is_gone

pytestmark = pytest.mark.dagster

SETTLED = timedelta(seconds=SETTLED_SECONDS + 5)


KILLED_AT_THE_NEXT_LAUNCH = """


def done(spark, inputs, params):
    import signal

    from tidegate.launcher import launcher

    while not Path("go-on").exists():
        time.sleep(0.05)
    launcher.launch = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    return {}
"""


def sweep(quick: Quick, after: timedelta) -> list[str]:
    """Look for dead runs, some time from now; returns what is said."""
    with quick.store.reading() as reader:
        plan = AssetPlan(deployed_plan(reader, "quick"))
    said: list[str] = []
    end_dead_runs(quick.instance, location_of(quick.settings), plan, datetime.now(UTC) + after, said.append)
    return said


def test_a_run_whose_launcher_was_killed_right_after_its_start_is_found(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note of the launcher comes first, so the run does not hold its slots for `START_SECONDS`."""
    monkeypatch.setattr("tidegate.launcher.launcher.this_process", of_a_dead_process)
    monkeypatch.setattr(type(quick.instance), "submit_run", lambda *_: None)
    run_id = quick.launch("done")
    quick.launcher.note_launch(quick.run(run_id))
    starting = DagsterEvent(DagsterEventType.PIPELINE_STARTING.value, quick.run(run_id).job_name)
    quick.instance.report_dagster_event(starting, run_id)
    (said,) = sweep(quick, SETTLED)
    assert said.endswith("ended before a run server had it")
    assert quick.ended(run_id).status is DagsterRunStatus.FAILURE


def test_a_process_that_is_killed_before_it_launches_the_next_run_takes_no_place(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the end of its run it has written STARTING for the next one, and dies before it launches that."""
    quick.programs.write_text(PROGRAMS + KILLED_AT_THE_NEXT_LAUNCH)
    data = ConfigurableClassData(
        "tidegate.dagster_defs.coordinator", "LaunchingCoordinator", "max_concurrent_runs: 1"
    )
    ref = quick.instance.get_ref()._replace(run_coordinator_data=data)
    coordinator = LaunchingCoordinator(max_concurrent_runs=1)
    coordinator.register_instance(quick.instance)
    monkeypatch.setattr(quick.instance, "_run_coordinator", coordinator)
    monkeypatch.setattr(type(quick.instance), "get_ref", lambda _: ref)
    note_daemon(quick.instance)
    first, second, third = (quick.launch("done") for _ in range(3))

    (quick.folder / "go-on").touch()
    quick.until("the start", lambda: quick.run(second).status is DagsterRunStatus.STARTING)
    record = quick.record(first)
    assert record is not None
    quick.until("the kill", lambda: is_gone(record.process))
    assert quick.run(first).status is DagsterRunStatus.SUCCESS
    assert quick.record(second) is None
    coordinator.start_next(datetime.now(UTC))
    assert quick.run(third).status is DagsterRunStatus.QUEUED, "the place is taken"

    (said,) = sweep(quick, SETTLED)
    assert said.endswith("ended before a run server had it")
    assert quick.ended(second).status is DagsterRunStatus.FAILURE
    coordinator.start_next(datetime.now(UTC))
    assert quick.ended(third).status is DagsterRunStatus.SUCCESS


def test_a_run_that_is_killed_with_its_server_is_found(quick: Quick) -> None:
    with quick.store.transaction():
        run_id = quick.launch("done")
        quick.until("its start", lambda: quick.run(run_id).status is DagsterRunStatus.STARTED)
        record = quick.record(run_id)
        assert record is not None
        with quick.store.reading() as reader:
            assert run_id not in owners(reader)
        assert quick.launcher.liveness(quick.run(run_id))[0] is ProcessState.ALIVE
        killed = (record.server, record.process)
        for name in killed:
            os.kill(int(name.split("/")[1]), signal.SIGKILL)
        # On a busy machine a killed process lives on for a moment.
        quick.until("the end of both", lambda: all(map(is_gone, killed)) and not quick.servers(run_id))

    assert sweep(quick, timedelta(0)) == []
    (said,) = sweep(quick, SETTLED)
    assert said.endswith("has ended without a word")
    assert quick.ended(run_id).status is DagsterRunStatus.FAILURE
    assert "the run died: process" in quick.text(run_id)


@pytest.mark.soak  # test_liveness.py decides the same of such a note
def test_a_run_of_dagsters_launcher_is_not_judged_by_the_note_of_the_run_before(
    quick: Quick, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    note = LaunchNote(launcher=of_a_dead_process(), folder=str(tmp_path))
    monkeypatch.setattr(quick.launcher, "config", LauncherConfig(modules=("another.module",)))

    with quick.store.transaction():
        run_id = quick.launch("done", {LAUNCH: msgspec.json.encode(note).decode()})
        quick.until("its start", lambda: quick.run(run_id).status is DagsterRunStatus.STARTED)
        assert quick.launcher.liveness(quick.run(run_id))[0] is ProcessState.UNKNOWN
        assert quick.launcher.check_run_worker_health(quick.run(run_id)).status is WorkerStatus.RUNNING
    assert quick.ended(run_id).status is DagsterRunStatus.SUCCESS
