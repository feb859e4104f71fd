"""Runs as forks of a run server: their ends, their code, their cancels, and the deaths of both processes."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from dagster import DagsterRunStatus, serialize_value

from tests.launcher.quick import PROGRAMS, Quick
from tidegate.dagster_defs.internals.launching import GRPC_INFO_TAG, WorkerStatus
from tidegate.launcher.client import launch, stop_servers
from tidegate.launcher.config import LauncherConfig
from tidegate.launcher.protocol import Launch
from tidegate.spark_jobs.commit.process import is_gone

pytestmark = pytest.mark.dagster


def server_of(quick: Quick, run_id: str) -> int:
    (name,) = quick.servers(run_id)
    return int(name.split("/")[1])


def test_a_run_is_a_process_of_its_own_with_the_folder_and_environment_of_its_launcher(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAID_BY", "the launcher")

    run_id = quick.launch("done")

    assert quick.ended(run_id).status is DagsterRunStatus.SUCCESS
    answer, pid, folder, said_by = (quick.folder / "said").read_text().split(" ", 3)
    assert (answer, folder, said_by) == ("first", str(quick.folder), "the launcher")
    assert int(pid) != server_of(quick, run_id)
    assert f"Started process for run (pid: {pid})" in quick.text(run_id)
    quick.until("its record is removed", lambda: quick.record(run_id) is None)


def test_a_process_can_keep_the_environment_in_which_it_launches(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program may change that of its process, which launches the next run at its end."""
    monkeypatch.setattr(quick.launcher, "_environment", os.environ)
    monkeypatch.setenv("SAID_BY", "before")
    quick.launcher.keep_environment()
    monkeypatch.setenv("SAID_BY", "the program")
    run_id = quick.launch("done")
    assert quick.ended(run_id).status is DagsterRunStatus.SUCCESS
    assert (quick.folder / "said").read_text().endswith(" before")
    assert quick.launcher.launches_alone(quick.run(run_id)), "its server listens"


def test_a_run_that_fails_says_why(quick: Quick) -> None:
    run_id = quick.launch("fail")

    assert quick.ended(run_id).status is DagsterRunStatus.FAILURE
    assert "ValueError: no fares for the day (quick_programs.py:" in quick.text(run_id)


def children_of(process: str) -> list[str]:
    """The commands of the processes that a process has started."""
    pids = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ") for pid in pids]


def test_what_a_run_prints_is_shown_at_once_with_its_last_words_and_no_process_copies_it(
    quick: Quick,
) -> None:
    run_id = quick.launch("crash")
    quick.until("its first line", lambda: quick.printed(run_id, "out") == "at work\n")
    record = quick.record(run_id)
    assert record is not None
    process = record.process.split("/")[1]

    assert [command for command in children_of(process) if "/java " not in command] == []

    (quick.folder / "crashes").touch()
    assert quick.ended(run_id).status is DagsterRunStatus.FAILURE
    said = quick.printed(run_id, "err")
    assert "Fatal Python error: Aborted" in said and "quick_programs.py" in said


def test_a_run_sees_the_program_as_it_is_on_disk_and_the_plan_that_it_was_made_of(quick: Quick) -> None:
    quick.ended(first := quick.launch("done"))
    quick.programs.write_text(PROGRAMS.replace('"first"', '"second"'))
    quick.deploy(revision=2)

    quick.ended(second := quick.launch("done"))

    assert (quick.folder / "said").read_text().startswith("second ")
    assert server_of(quick, second) == server_of(quick, first)


def test_a_changed_file_that_is_loaded_makes_a_new_server_and_leaves_the_runs_of_the_old_one(
    quick: Quick,
) -> None:
    process = quick.waiting(old := quick.launch("wait"))
    before = server_of(quick, old)
    quick.library.write_text("# changed\n")

    new = quick.launch("done")

    assert quick.ended(new).status is DagsterRunStatus.SUCCESS
    assert {name.split("/")[1] for name in quick.servers(new)} > {str(before)}
    os.kill(process, signal.SIGKILL)
    assert quick.ended(old).status is DagsterRunStatus.FAILURE
    quick.until("the old server ends", lambda: len(quick.servers(new)) == 1)
    assert server_of(quick, new) != before


def test_a_cancelled_run_and_a_killed_one_end_alone(quick: Quick) -> None:
    cancelled, killed, other = (quick.launch("wait") for _ in range(3))
    processes = [quick.waiting(run_id) for run_id in (cancelled, killed, other)]

    assert quick.launcher.terminate(cancelled)
    os.kill(processes[1], signal.SIGKILL)

    assert quick.ended(cancelled).status is DagsterRunStatus.CANCELED
    assert quick.ended(killed).status is DagsterRunStatus.FAILURE
    assert f"its process {processes[1]} was ended by SIGKILL" in quick.text(killed)
    assert quick.run(other).status is DagsterRunStatus.STARTED
    assert quick.launcher.check_run_worker_health(quick.run(other)).status is WorkerStatus.RUNNING
    assert quick.launcher.terminate(other)
    assert quick.ended(other).status is DagsterRunStatus.CANCELED
    assert not quick.launcher.terminate(other)


def test_runs_outlive_their_server_and_launchers_at_once_start_one_that_looks_after_them(
    quick: Quick,
) -> None:
    cancelled, killed = quick.launch("wait"), quick.launch("wait")
    process = [quick.waiting(run_id) for run_id in (cancelled, killed)][1]

    os.kill(server_of(quick, killed), signal.SIGKILL)
    quick.until("the server's end", lambda: not quick.servers(killed))

    assert quick.launcher.terminate(cancelled)
    assert quick.ended(cancelled).status is DagsterRunStatus.CANCELED
    os.kill(process, signal.SIGKILL)
    quick.until("its end", lambda: (found := quick.record(killed)) and is_gone(found.process))
    assert quick.launcher.check_run_worker_health(quick.run(killed)).status is WorkerStatus.FAILED
    assert not quick.launcher.terminate(killed)

    with ThreadPoolExecutor(2) as launchers:
        runs = list(launchers.map(quick.launch, ["done", "done"]))

    assert {quick.ended(run_id).status for run_id in runs} == {DagsterRunStatus.SUCCESS}
    assert len(quick.servers(killed)) == 1
    assert quick.ended(killed).status is DagsterRunStatus.CANCELED
    assert "and so had its run server" in quick.text(killed)


def test_a_run_is_started_once_however_often_that_is_asked_for_and_cancelled_from_elsewhere(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = quick.waiting(run_id := quick.launch("wait"))
    request = Launch(
        run_id=run_id,
        instance=serialize_value(quick.instance.get_ref()),
        folder=str(quick.folder),
        environment={},
    )

    assert launch(quick.place(run_id), request).done

    assert quick.waiting(run_id) == process
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")  # a launcher of another environment has another server
    assert quick.launcher.terminate(run_id)
    assert quick.ended(run_id).status is DagsterRunStatus.CANCELED


def test_runs_of_other_code_locations_are_launched_as_by_dagster(
    quick: Quick, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick.launcher, "config", LauncherConfig(modules=("another.module",)))

    run_id = quick.launch("wait")

    assert GRPC_INFO_TAG in quick.run(run_id).tags
    quick.until("the program", lambda: quick.run(run_id).status is DagsterRunStatus.STARTED)
    assert quick.launcher.check_run_worker_health(quick.run(run_id)).status is WorkerStatus.RUNNING
    assert quick.launcher.terminate(run_id)
    assert quick.ended(run_id).status is DagsterRunStatus.CANCELED


def test_the_end_of_its_processes_ends_the_runs_of_a_project(quick: Quick) -> None:
    process = quick.waiting(run_id := quick.launch("wait"))

    stop_servers(quick.site.home, quick.folder)

    assert quick.run(run_id).status is DagsterRunStatus.FAILURE
    assert not Path(f"/proc/{process}").exists()
    assert not quick.servers(run_id)
