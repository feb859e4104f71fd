"""Real hosts, killed at the run of an existing job; Dagster's daemon has its default queue and launcher."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest

from tests.existing.world import Acme
from tidegate.processes.dagster import ManagedProcess
from tidegate.processes.home import SETTINGS_NAME
from tidegate.scheduler.model.job import FINISHED, Job, JobState

pytestmark = [pytest.mark.dagster, pytest.mark.slow]

T = TypeVar("T")

WAIT_SECONDS = 240
CORE = """
app: core
programs:
  load: {job: load_region, location: acme, config: {ops: {load: {config: {region: eu}}}}}
schedules:
  load: {program: load, trigger: {cron: "0 0 1 1 *"}, status: active}
"""

DYING = """
import sys
from dagster import DagsterInstance
from tests.crashes.processes import kill_self
from tidegate.cli.main import application

statement, moment = sys.argv[1:]
call = getattr(DagsterInstance, statement)

def dying(*given, **named):
    if moment == "after":
        call(*given, **named)
    kill_self()

setattr(DagsterInstance, statement, dying)
application(["host"])
"""
"""`tidegate host` that is killed before or after a call of Dagster's instance."""


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    folder = tmp_path_factory.mktemp("killed")
    (folder / SETTINGS_NAME).write_text("telemetry: {enabled: false}\n")
    project = Acme(folder)
    try:
        project.deploy_beside("core.yaml", CORE)
        project.start()
        project.processes.start_daemon()
        yield project
    finally:
        project.stop()


@contextmanager
def running(acme: Acme, *command: str) -> Iterator[ManagedProcess]:
    """A process of the project, which is killed in the end."""
    process = ManagedProcess("host", [sys.executable, *command], acme.site)
    try:
        yield process
    finally:
        process.stop()


def until(acme: Acme, process: ManagedProcess, what: str, look: Callable[[], T]) -> T:
    """Look again and again until there is something to see."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := look()):
        seen = "\n".join([what, *map(str, acme.jobs("load")), process.log.read_text()[-3000:], acme.log()])
        assert time.monotonic() < deadline, seen
        time.sleep(acme.pause_seconds)
    return found


def has_ended(acme: Acme, host: ManagedProcess, job: Job) -> Job:
    """Wait for the end of a job."""
    return until(
        acme, host, "the end", lambda: next((e for e in [acme.job(job.id)] if e.state in FINISHED), None)
    )


@pytest.mark.parametrize(
    ("statement", "moment", "runs"),
    [("create_run", "before", 0), ("create_run", "after", 1), ("submit_run", "after", 1)],
)
def test_a_host_is_killed_at_the_run_of_an_existing_job_and_the_next_host_leaves_one_run(
    acme: Acme, statement: str, moment: str, runs: int
) -> None:
    job = acme.trigger("load")
    with running(acme, "-c", DYING, statement, moment) as dying:
        until(acme, dying, "the kill", lambda: not dying.alive)
        assert len(acme.runs_of(job)) == runs, dying.log.read_text()

    with running(acme, "-m", "tidegate.cli.main", "host") as host:
        ended = has_ended(acme, host, job)

    assert (ended.state, ended.attempt, len(acme.runs_of(job))) == (JobState.SUCCEEDED, 1, 1)
