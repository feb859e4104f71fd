"""`tidegate why` of what a dead or silent run holds: which process, since when, and when it is released."""

import os
import socket
from datetime import UTC, datetime, timedelta

import pytest

from tests.doubles.dead_process import DEAD, of_a_dead_process, process_of
from tests.tidegate.project import Project
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.owners import RunOwner, own
from tidegate.scheduler.launch.run_report import claim
from tidegate.scheduler.model.run import RunStatus
from tidegate.spark_jobs.commit.lease import LEASE
from tidegate.spark_jobs.commit.process import this_process

pytestmark = pytest.mark.slow  # whole commands

ELSEWHERE = "node-7/17/m/b/s/9"


def running(project: Project, process: str, silent_for: timedelta, program: str = "job") -> str:
    """A run holds the only slot, and a job waits for it; returns the id of what the run works for."""
    now = datetime.now(UTC)
    job = None
    if program == "job":
        project.arrive("2026-03-08", "2026-03-09")
    store = project.store()
    if program == "job":
        with store.transaction() as transaction:
            (request,) = offer_launches(transaction, now, "sales")
        job = request.job
        claim(store, request.job, 1, "run-1", now)
    run_id = "run-1" if program == "job" else "run-1/sales/make_report"
    seen = RunObservation(
        run_id=run_id,
        program="sales/make_report",
        job=job,
        attempt=None if job is None else 1,
        status=RunStatus.STARTED,
        at=now - timedelta(minutes=10),
    )
    with store.transaction() as transaction:
        observe_runs(transaction, [seen], now)
    own(store, "run-1", RunOwner(instance="i", process=process, until=now - silent_for + LEASE))
    store.close()
    project.arrive("2026-03-10", "2026-03-11")
    return job or "sales/make_report"


@pytest.mark.parametrize(
    ("process", "silent_for", "state", "freed"),
    [
        # Every worker of the tests has another process in these names, so they need ids.
        pytest.param(
            DEAD,
            10,
            "has ended",
            "a dispatcher releases it within 30 s; if the scheduler",
            id="dead",
        ),
        (ELSEWHERE, 90, "is on another machine, and gives no sign of life", "its lease ends at "),
        (ELSEWHERE, 600, "is on another machine, and its lease has ended", "a dispatcher releases it"),
        pytest.param(
            this_process(),
            90,
            "is alive and does not renew its lease",
            "end the process, or the run in Dagster",
            id="silent",
        ),
    ],
)
def test_a_job_that_waits_for_the_slot_of_a_dead_run_names_it(
    deployed: Project, process: str, silent_for: int, state: str, freed: str
) -> None:
    job = running(deployed, process_of(process), timedelta(seconds=silent_for))

    (found,) = deployed.json("why", "report_daily")
    printed = deployed.run("why", "report_daily")

    (dead,) = found["dead"]
    assert (dead["resource"], dead["run_id"]) == ("program:sales/make_report", "run-1")
    assert dead["process"].startswith("process ") and dead["state"].startswith(state)
    assert dead["freed"].startswith(freed)
    assert f"dead: run run-1 of job {job} holds a slot of program sales/make_report" in printed
    assert dead["process"] in printed
    since = datetime.fromisoformat(dead["since"])
    assert f"its last sign of life: {since:%Y-%m-%d %H:%M:%SZ}" in printed
    assert dead["since"] != found["at"]


def test_a_running_job_whose_own_process_has_ended_says_so(deployed: Project) -> None:
    job = running(deployed, of_a_dead_process(), timedelta(seconds=10))
    assert f"dead: run run-1 of job {job} runs it; its process " in deployed.run("why", job)


@pytest.mark.parametrize("process", [ELSEWHERE, pytest.param(this_process(), id="here")])
def test_a_run_that_gives_signs_of_life_is_not_named(deployed: Project, process: str) -> None:
    running(deployed, process, timedelta(seconds=45))
    (found,) = deployed.json("why", "report_daily")
    assert found["missing"][0]["what"] == "a free slot of program sales/make_report"
    assert found["dead"] == []


def test_an_external_run_is_named_by_its_program(deployed: Project) -> None:
    with_run_by_hand = running(deployed, of_a_dead_process(), timedelta(0), "by hand")
    (found,) = deployed.json("why", "report_daily")
    (dead,) = found["dead"]
    assert (dead["of"], dead["run_id"]) == (with_run_by_hand, "run-1")
    assert socket.gethostname() in dead["process"] and str(os.getpid()) not in dead["process"]
