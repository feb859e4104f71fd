"""Real hosts, killed at the run of an existing job; Dagster's daemon has its default queue and launcher."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.existing.world import Acme, served
from tidegate.processes.site import ManagedProcess
from tidegate.scheduler.model.job import JobState

pytestmark = [pytest.mark.dagster, pytest.mark.soak]  # test_jobs.py dies at all these moments, in one process

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


KILLS = [("create_run", "before", 0), ("create_run", "after", 1), ("submit_run", "after", 1)]


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    with served(tmp_path_factory.mktemp("killed"), CORE, daemon=True) as project:
        yield project


@contextmanager
def running(acme: Acme, *command: str) -> Iterator[ManagedProcess]:
    """A process of the project, which is killed in the end."""
    process = ManagedProcess("host", [sys.executable, *command], acme.site)
    try:
        yield process
    finally:
        process.stop()


@pytest.mark.parametrize(("statement", "moment", "runs"), KILLS)
def test_a_host_is_killed_at_the_run_of_an_existing_job_and_the_next_host_leaves_one_run(
    acme: Acme, statement: str, moment: str, runs: int
) -> None:
    job = acme.trigger("load")
    with running(acme, "-c", DYING, statement, moment) as dying:
        acme.until("the kill", lambda: not dying.alive)
        assert len(acme.runs_of(job)) == runs, dying.log.read_text()

    with running(acme, "-m", "tidegate.cli.main", "host"):
        ended = acme.reaches(job)

    assert (ended.state, ended.attempt, len(acme.runs_of(job))) == (JobState.SUCCEEDED, 1, 1)
