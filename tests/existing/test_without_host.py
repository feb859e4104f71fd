"""Without a host: the dispatcher creates the runs of jobs of its own location, and Dagster's queue has them.

One code location has the project of acme and ours. Settings of Dagster are its defaults: queue and launcher.
"""

from collections.abc import Iterator

import pytest
from dagster import DagsterRunStatus, RunsFilter

from tests.existing.world import Acme, served
from tidegate.scheduler.model.job import FINISHED, Job, JobState
from tidegate.scheduler.model.reason import Reason

pytestmark = pytest.mark.dagster

YAML = """
app: core
programs:
  load:
    job: load_region
    config: {ops: {load: {config: {region: "{{ args.region }}", note: on time}}}}
  elsewhere: {job: nightly_report, location: another}
schedules:
  load: {program: load, trigger: {cron: "0 0 1 1 *"}, args: {region: eu}, status: active}
  fails: {program: load, trigger: {cron: "0 0 1 1 *"}, args: {region: nowhere}, status: active}
  elsewhere: {program: elsewhere, trigger: {cron: "0 0 1 1 *"}, status: active}
"""


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    with served(tmp_path_factory.mktemp("merged"), YAML, merged=True, daemon=True) as project:
        yield project


def until(acme: Acme, job: Job, states: frozenset[JobState] = FINISHED) -> Job:
    """Wait until a job is in one of some states, while the code server lives."""

    def lives() -> None:
        assert acme.acme is not None and acme.acme.alive

    return acme.reaches(job, states, lives)


def test_the_dispatcher_creates_the_runs_of_jobs_of_its_own_location(acme: Acme) -> None:
    ended, failed = until(acme, acme.trigger("load")), until(acme, acme.trigger("fails"))

    assert ended.state is JobState.SUCCEEDED, ended
    (run,) = acme.runs_of(ended)
    assert (run.job_name, run.status) == ("load_region", DagsterRunStatus.SUCCESS)
    assert run.remote_job_origin is not None
    assert run.remote_job_origin.location_name == "acme"
    assert (failed.reason, failed.attempt) == (Reason.F_RUN, 1)
    assert failed.detail == "step load: ValueError: there is no region nowhere"


def test_a_job_of_another_location_waits_for_a_host(acme: Acme) -> None:
    waiting = until(acme, acme.trigger("elsewhere"), frozenset({JobState.PENDING_CONSTRAINT}))

    assert waiting.reason is Reason.W_HOST
    assert acme.runs_of(waiting) == []


@pytest.mark.soak  # of our own runs: dagster_defs/live/test_live.py; around each run: test_jobs.py
def test_daemon_and_code_server_are_killed_and_each_job_runs_once(acme: Acme) -> None:
    jobs = [acme.trigger("load") for _ in range(2)]
    assert acme.acme is not None
    daemon = acme.processes._running["daemon"]

    def any_run(*statuses: DagsterRunStatus) -> bool:
        return any(run.status in statuses for job in jobs for run in acme.runs_of(job))

    # With its defaults Dagster never looks again for a run that was lost on the way to its queue or process:
    # two files say that it is queued, and a kill between them leaves it so.
    lost = (DagsterRunStatus.NOT_STARTED, DagsterRunStatus.STARTING)
    acme.until("the first run", lambda: any(map(acme.runs_of, jobs)) and not any_run(*lost))
    daemon.kill()
    acme.until("what the daemon has launched begins", lambda: not any_run(DagsterRunStatus.STARTING))
    acme.acme.kill()
    acme.start_acme()
    acme.processes.start_daemon()

    for job in jobs:
        ended = until(acme, job)
        assert ended.state is JobState.SUCCEEDED, ended
        # Others were launched while there was no code server, and never began.
        records = acme.instance.get_run_records(RunsFilter(tags={"tidegate/job": job.id}))
        assert [run.dagster_run.status for run in records if run.start_time] == [DagsterRunStatus.SUCCESS]
