"""`tidegate backfill` with the name of a schedule, as a person types it."""

import pytest

from tests.tidegate.project import Project
from tests.worlds.by import CLI
from tidegate.scheduler.commands.backfills.cancel import cancel_backfill

pytestmark = pytest.mark.slow  # whole commands

BY_DAY = ("backfill", "start", "report_by_day")
NIGHTS = ("backfill", "start", "report_at_six")
DATES = ("--from", "2026-03-01", "--to", "2026-03-04")


def keys(project: Project, number: int) -> list[str]:
    """The keys of a backfill, in order."""
    return [each["scheduled"] for each in project.json("instances", "list", "--backfill", str(number))]


def test_a_range_of_keys_is_started_followed_cancelled_and_resumed(deployed: Project) -> None:
    printed = deployed.run(*BY_DAY, *DATES, "--lot", "2", "--reason", "a bug")
    assert printed.splitlines()[0] == (
        "backfill 1 is started: 4 instances of 1 schedule, keys 2026-03-01 to 2026-03-04, in lots of 2 dates"
    )
    assert "`tidegate schedules resume sales/report_by_day`" in printed
    assert "dates or keys" in deployed.run("backfill", "status")
    (listed,) = deployed.json("backfill", "status", "--task", "report_by_day")
    assert (listed["total"], listed["backfill"]["tasks"]) == (4, ["sales/report_by_day"])
    assert deployed.json("backfill", "status", "--task", "report_at_six") == []
    assert "backfill 1 is cancelled" in deployed.run("backfill", "cancel", "1")
    assert keys(deployed, 1) == []
    resumed = deployed.run("backfill", "resume", "1")
    assert "backfill 1 is resumed: 4 of 4 instances are to run" in resumed
    assert keys(deployed, 1) == ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"]
    assert deployed.refused("backfill", "resume", "1").message == "E-STATE: backfill 1 is not cancelled"
    assert deployed.refused("backfill", "resume", "9").message == "E-TASK: there is no backfill 9"


def test_single_keys_and_the_business_dates_of_a_cron(deployed: Project) -> None:
    asked = (*NIGHTS, "--key", "2026-03-03", "--key", "2026-03-01", "--app", "sales")
    started = deployed.json(*asked, "--quiet-downstream", "--priority", "high")
    one = started["backfill"]
    assert (started["total"], one["keys"]) == (2, ["2026-03-03", "2026-03-01"])
    assert (one["quiet_downstream"], one["priority"], one["which"]) == (True, "high", "all")
    assert sorted(keys(deployed, 1)) == ["2026-03-01", "2026-03-03"]


def test_which_takes_what_no_job_has_done_yet(deployed: Project) -> None:
    assert deployed.json(*BY_DAY, *DATES, "--which", "missing")["total"] == 4
    with deployed.store().transaction() as transaction:
        cancel_backfill(transaction, 1, transaction.jobs()[0].opened_at, CLI)
    for which in ("failed", "stale"):
        refused = deployed.refused(*BY_DAY, *DATES, "--which", which)
        assert refused.message == f"E-RANGE: no date or key of these is {which}"


def test_both_a_range_and_keys_are_wrong_usage(deployed: Project) -> None:
    said = deployed.run_with_errors(*BY_DAY, *DATES, "--key", "2026-03-01", exit_code=64)
    assert "name a range with --from and --to, or single keys with --key" in said


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        (("report_daily", *DATES), "E-RANGE: sales/report_daily has no keys", "schedules trigger"),
        (("report_by_dya", *DATES), 'schedule "report_by_dya" is not deployed', '"report_by_day"'),
        (("sales/report_at_sx", *DATES), '"sales/report_at_sx" is not', '"sales/report_at_six"'),
        (("report_by_day", "--key", "2126-03-01"), "E-RANGE: 2126-03-01 of sales/", "that is over"),
        (("report_by_day", "--key", "March"), "E-TIME: sales/report_by_day has no such key", ""),
        (("report_by_day", "--from", "2026-03-04", "--to", "2026-03-01"), "E-RANGE: the range ends", ""),
        (("report_by_day", *DATES, "--only", "x"), "E-TASK: sales/report_by_day is a schedule", ""),
    ],
)
def test_what_cannot_be_filled_is_refused(
    deployed: Project, asked: tuple[str, ...], message: str, hint: str
) -> None:
    refused = deployed.refused("backfill", "start", *asked)
    assert message in refused.message
    assert hint in (refused.hint or "")
    assert deployed.json("backfill", "status") == []


def test_its_waiting_jobs_name_what_they_wait_for_and_what_to_do_with_them(deployed: Project) -> None:
    deployed.run("schedules", "resume", "report_by_day")
    deployed.run(*BY_DAY, *DATES)
    (*_, last) = deployed.json("instances", "list", "--backfill", "1")
    assert "lot 1 of backfill 1" in deployed.run("why", last["job"])
    for verb, instead in (("cancel", "pause"), ("retry", "rerun")):
        refused = deployed.refused("jobs", verb, last["job"])
        assert refused.message == f"job {last['job']} is a key of sales/report_by_day in backfill 1"
        assert refused.hint == f"`tidegate instances {instead} sales/report_by_day 2026-03-04 --backfill 1`"
