"""Where a failure can be seen on the command line: in the list of jobs, at the job, and in `why`."""

from datetime import UTC, datetime

import pytest

from tests.tidegate.project import Project
from tidegate.processes.lock import project_lock
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.intake.published import observe_recovered
from tidegate.scheduler.launch.outbox import offer_launches
from tidegate.scheduler.launch.run_report import claim, note_failure
from tidegate.scheduler.model.run import RunStatus

pytestmark = pytest.mark.slow  # whole commands

SAID = "ValueError: no orders (programs/report.py:7)"
COLUMNS = ("schedule", "landed", "succeeded", "running", "failed", "pending", "discarded")
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def failed(deployed: Project) -> str:
    """The id of a job whose run has failed a moment ago."""
    return fail(deployed)


def fail(deployed: Project) -> str:
    """Let a run fail a moment ago; returns the id of its job."""
    deployed.arrive("2026-03-09", "2026-03-10")
    store, now = deployed.store(), datetime.now(UTC)
    with store.transaction() as transaction:
        (request,) = offer_launches(transaction, now, "sales")
    claim(store, request.job, 1, "run-1", now)
    note_failure(store, request.job, 1, "run-1", SAID, now)
    ended = RunObservation(
        run_id="run-1",
        program=f"sales/{request.launch.program}",
        job=request.job,
        attempt=1,
        status=RunStatus.FAILED,
        at=now,
    )
    with store.transaction() as transaction:
        observe_runs(transaction, [ended], now)
    store.close()
    return request.job


@pytest.mark.parametrize("options", [(), ("--failed",)])
def test_jobs_list_shows_what_failed_and_why(
    deployed: Project, failed: str, options: tuple[str, ...]
) -> None:
    printed = deployed.run("jobs", "list", "--wide", *options)
    assert failed in printed
    assert SAID in printed
    assert "run-1" in printed
    assert [job["id"] for job in deployed.json("jobs", "list", *options)] == [failed]


def test_the_ledger_shows_what_failed_runs_have_consumed_apart(deployed: Project, failed: str) -> None:
    daily = next(row for row in deployed.json("ledger") if row["schedule"] == "sales/report_daily")
    assert (daily["landed"], daily["consumed"], daily["succeeded"]) == (2, 2, 0)
    assert (daily["failed"], daily["failures"], daily["discarded"]) == (2, {"F-RUN": 2}, 0)
    head, *rows = deployed.run("ledger").splitlines()
    assert head.split() == [*COLUMNS, "reasons"]
    assert next(row.split() for row in rows if row.startswith("sales/report_daily")) == [
        *("sales/report_daily", "2", "0", "0", "2", "0", "0"),
        *("2", "F-RUN"),
    ]


def test_of_many_schedules_the_ledger_shows_the_first_ones(deployed: Project, failed: str) -> None:
    every = [line["schedule"] for line in deployed.json("ledger")]
    assert len(every) > 1
    printed = deployed.run("ledger", "--limit", "1")
    assert [each in printed for each in every[:2]] == [True, False]
    assert printed.splitlines()[-1] == "The first 1; --limit shows more."
    assert [line["schedule"] for line in deployed.json("ledger", "--limit", "1")] == every[:1]
    assert "--limit" not in deployed.run("ledger", "--limit", str(len(every)))


def test_without_a_failure_the_list_says_so(deployed: Project) -> None:
    assert deployed.run("jobs", "list", "--failed") == "No failed jobs.\n"
    assert "Failed" not in deployed.run("jobs", "list")


def test_show_and_why_say_what_the_program_has_raised(deployed: Project, failed: str) -> None:
    assert SAID in deployed.run("jobs", "show", failed)
    printed = deployed.run("why", "report_daily")
    assert "the last job, which failed" in printed
    assert f"run run-1; {SAID}" in printed
    assert f"tidegate jobs retry {failed}" in printed


def test_a_failed_job_is_tried_again(deployed: Project, failed: str) -> None:
    assert deployed.run("jobs", "retry", failed) == (
        f"job {failed} of sales/report_daily is queued again, attempt 2\n"
    )
    why = " ".join(deployed.run("why", failed).split())
    assert "triggered by hand" in why
    assert f"attempt 2 comes next, run run-1 failed: {SAID}" in why
    assert "cannot be retried" in deployed.refused("jobs", "retry", failed).message


def test_a_job_that_waits_for_its_next_attempt_shows_why_the_one_before_failed(deployed: Project) -> None:
    deployed.edit("    constraints:\n", "    retries: {max: 2, wait: 10m}\n    constraints:\n")
    deployed.run("deploy")
    job = fail(deployed)
    why = " ".join(deployed.run("why", job).split())
    assert "W-RETRY" in why
    assert f"attempt 2 of 3 comes next, run run-1 failed: {SAID}" in why
    assert SAID in deployed.run("jobs", "list")
    assert SAID in deployed.run("jobs", "show", job)


def test_why_shows_a_job_whose_run_is_asked_for(deployed: Project) -> None:
    deployed.arrive("2026-03-09", "2026-03-10")
    assert "PENDING_LAUNCH: its run is asked for at the next tick" in deployed.run("why", "report_daily")
    assert "last tick of the scheduler: " in deployed.run("why", "report_daily")
    (found,) = deployed.json("why", "report_daily")
    assert found["scheduler"][0].startswith("last tick of the scheduler: ")


@pytest.mark.parametrize("target", ["the job", "report_daily"])
def test_the_run_has_its_address_in_the_ui_where_the_settings_name_it(
    deployed: Project, failed: str, target: str
) -> None:
    name = failed if target == "the job" else target
    assert "/runs/" not in deployed.run("why", name) + deployed.run("jobs", "show", failed)
    settings = deployed.folder / "tidegate.toml"
    settings.write_text(settings.read_text() + '[dagster]\nwebserver_url = "https://ui.example.com/"\n')
    assert "its run in Dagster: https://ui.example.com/runs/run-1" in deployed.run("why", name)
    (found,) = deployed.json("why", name)
    assert found["run_address"] == "https://ui.example.com/runs/run-1"
    assert "https://ui.example.com/runs/run-1" in deployed.run("jobs", "show", failed)


def test_the_address_is_that_of_the_dev_that_runs(deployed: Project, failed: str) -> None:
    settings = deployed.folder / "tidegate.toml"
    settings.write_text(settings.read_text() + '[dagster]\nwebserver_url = "http://127.0.0.1:3000"\n')
    with project_lock(deployed.folder) as lock:
        lock.say("http://127.0.0.1:3123")
        assert "http://127.0.0.1:3123/runs/run-1" in deployed.run("why", failed)
        assert "http://127.0.0.1:3123/runs/run-1" in deployed.run("jobs", "show", failed)
    assert "http://127.0.0.1:3000/runs/run-1" in deployed.run("why", failed)


def test_a_failed_job_whose_publish_recovery_has_finished_says_so(deployed: Project, failed: str) -> None:
    store = deployed.store()
    with store.transaction() as transaction:
        observe_recovered(transaction, failed, datetime.now(UTC))
    store.close()
    shown = deployed.run("jobs", "show", failed)
    assert "SUCCEEDED" in shown
    assert "run-1 (its publish was finished by recovery)" in shown
    assert "recovered" in shown, "the history has the entry"
    said = f"SUCCEEDED, run run-1; recovery finished the publish of run run-1; {SAID}"
    assert said in " ".join(deployed.run("why", failed).split())
