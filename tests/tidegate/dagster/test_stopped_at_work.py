"""Services that are stopped, as `tidegate dev` and a host are, while a run is at work: what a person hears.

The run ends with the services. Until they are back, `why` names its dead process and says what happens next;
once they are back, the job has a further attempt.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.dagster_defs.live.project import LiveProject
from tests.worlds.by import CLI
from tidegate.cli.main import application
from tidegate.processes.dagster import DagsterProcesses
from tidegate.scheduler.commands.by_hand.manual import trigger
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.run import RunStatus

pytestmark = pytest.mark.dagster

YAML = """
app: core
programs: {rest: {run: programs.rest}}
schedules: {rest: {program: rest, trigger: {cron: "0 0 1 1 *"}, status: active}}
"""
PROGRAM = '''
"""A program that is at work for longer than the test."""

import time


def rest() -> None:
    time.sleep(600)
'''


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveProject]:
    """A project with a code server, a daemon and a host, as `tidegate dev` has them."""
    (tmp_path / "schedules").mkdir()
    (tmp_path / "tidegate.toml").write_text('[warehouse]\ndefault_format = "parquet"\n')
    (tmp_path / "programs.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    made = LiveProject(tmp_path)
    made.deploy_beside("core.yaml", YAML)
    start(made)
    yield made
    made.stop()


def start(project: LiveProject) -> None:
    project.processes = DagsterProcesses(project.site)
    project.processes.__enter__()
    project.processes.start_code_server()
    project.processes.start_daemon()  # starts what the host has queued, where it could not start it at once
    project.processes.start_host()


def at_work(project: LiveProject, job: str, attempt: int) -> Job | None:
    """The job, once the run of an attempt has begun."""
    with project.store.reading() as reader:
        (found,) = reader.jobs(ids=[job])
        runs = reader.runs(jobs=[job])
    begun = any(run.status is RunStatus.STARTED and run.attempt == attempt for run in runs)
    return found if begun else None


def said(*command: str) -> str:
    answer = CliRunner().invoke(application, command)
    return " ".join(answer.output.split())


def test_after_a_stop_why_names_the_process_that_ended_and_what_happens_next(
    project: LiveProject,
) -> None:
    with project.store.transaction() as transaction:
        job = trigger(transaction, "core/rest", datetime.now(UTC), by=CLI).id
    found = project.until("the run", lambda: at_work(project, job, 1))

    project.processes.stop()  # as `tidegate dev` does at Ctrl-C

    why = said("why", job)
    assert f"dead: run {found.run_id} of job {job} runs it; its process " in why and " has ended" in why
    assert "a dispatcher releases it within 30 s; if the scheduler does not run, start it" in why
    status = said("status")
    assert "not alive" in status and "running 1" in status and "`tidegate doctor` says what to do" in status

    start(project)
    again = project.until("the next attempt", lambda: at_work(project, job, 2))

    assert again.run_id != found.run_id
    why = said("why", job)
    assert "attempt 2" in why and "dead:" not in why and "retry attempt=2" in why
    assert f"1 {found.run_id} failed" in said("jobs", "show", job)
