"""`tidegate schedules`: list, show, and what people do to schedules by hand."""

import pytest

from tests.tidegate.project import Project, sales_as
from tests.worlds.by import ME
from tidegate.scheduler.model.journal import EntryKind

pytestmark = pytest.mark.slow  # whole commands


def test_the_list_shows_status_trigger_and_next_fire(deployed: Project) -> None:
    lines = {line.split()[0]: line for line in deployed.run("schedules", "list").splitlines() if "/" in line}
    assert list(lines) == ["sales/report_at_six", "sales/report_by_day", "sales/report_daily"]
    assert "active" in lines["sales/report_at_six"]
    assert "cron 0 6 1-15 3 * Europe/Berlin" in lines["sales/report_at_six"]
    assert "Z" in lines["sales/report_at_six"]
    assert "suspended" in lines["sales/report_by_day"]
    assert "2 partitions of orders" in lines["sales/report_daily"]


def test_the_list_counts_waiting_jobs(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    waiting = {row["ref"]: row["waiting_jobs"] for row in deployed.json("schedules", "list")}
    assert waiting == {"sales/report_at_six": 0, "sales/report_by_day": 0, "sales/report_daily": 1}


def test_show_tells_the_specification_and_the_newest_jobs(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    printed = deployed.run("schedules", "show", "report_daily")
    assert "active, set by deploy" in printed
    assert "schedules/sales.yaml:1" in printed
    assert '"max":1' in printed
    assert "PENDING_TRIGGER" in printed
    found = deployed.json("schedules", "show", "sales/report_daily")
    assert found["schedule"]["trigger"]["partitions"]["count"] == 2
    assert [job["state"] for job in found["jobs"]] == ["PENDING_TRIGGER"]


def test_show_says_who_changed_what_and_why(deployed: Project) -> None:
    deployed.run("schedules", "suspend", "report_daily", "--reason", "late feed")
    deployed.run("schedules", "update", "report_daily", "--set", "timeout=2h", "--reason", "too slow")
    printed = deployed.run("schedules", "show", "report_daily")
    history = printed.partition("History:")[2]
    assert f"status=suspended, by={ME}, why=late feed" in history
    assert "override=specification" in history and "reason=too slow" in history
    assert "make_report" not in history, "the specification is shown above"
    found = deployed.json("schedules", "show", "report_daily")
    assert found["history"][0]["kind"] == "spec"


def test_suspend_discards_what_waits_and_resume_starts_anew(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    assert deployed.run("schedules", "suspend", "report_daily") == (
        "sales/report_daily is suspended: 1 waiting job is discarded; new events are ignored\n"
    )
    assert "is already suspended" in deployed.run("schedules", "suspend", "report_daily")
    assert "D-SUSPENDED" in deployed.run("jobs", "list", "--all")
    deployed.arrive("2026-03-10")
    assert "No jobs in the queue" in deployed.run("jobs", "list")
    assert deployed.run("schedules", "resume", "sales/report_daily") == (
        "sales/report_daily is active: events and fires count from now on\n"
    )
    deployed.arrive("2026-03-11")
    assert "PENDING_TRIGGER" in deployed.run("jobs", "list")


MODES = [
    ("drain", "1 waiting job can still run; new events are ignored", "events and fires count from now on"),
    (
        "hold",
        "1 waiting job is held until resume; new events are added to held jobs and otherwise ignored",
        "1 waiting job is released; it continues as if it had not been suspended",
    ),
    (
        "backlog",
        "1 waiting job is held until resume; new events are collected in held jobs",
        "1 waiting job is released; it continues as if it had not been suspended",
    ),
]


@pytest.mark.parametrize(("mode", "suspended", "resumed"), MODES, ids=[row[0] for row in MODES])
def test_the_other_modes_say_what_happens_to_what_waits(
    deployed: Project, mode: str, suspended: str, resumed: str
) -> None:
    deployed.edit(
        "status: active\n  report_by_day", f"status: active\n    on_suspend: {mode}\n  report_by_day"
    )
    deployed.run("deploy")
    deployed.arrive("2026-03-09")
    printed = deployed.run("schedules", "suspend", "report_daily")
    assert printed == f"sales/report_daily is suspended: {suspended}\n"
    (job,) = deployed.json("jobs", "list")
    assert ("held since" in deployed.run("jobs", "show", job["id"])) == (mode != "drain")
    assert deployed.run("schedules", "resume", "report_daily") == f"sales/report_daily is active: {resumed}\n"


def test_a_list_that_is_longer_than_its_limit_says_so(deployed: Project) -> None:
    whole = deployed.json("schedules", "list")
    most = str(len(whole))
    assert "--limit" not in deployed.run("schedules", "list", "--limit", most)
    listed = deployed.run("schedules", "list", "--limit", "1")
    assert listed.endswith(f"\n\nThe first 1 of {most}; --limit shows more.\n")
    assert whole[0]["ref"] in listed
    assert whole[1]["ref"] not in listed
    assert deployed.json("schedules", "list", "--limit", "1") == whole[:1]
    printed = deployed.run_with_errors("schedules", "list", "--limit", "1", "--format", "json")
    assert printed.endswith(f"The first 1 of {most}; --limit shows more.")
    assert f"of {most};" in deployed.run("schedules", "list", "--limit", "1", "--app", "sales")


def test_the_ledger_is_cut_too(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    rows = deployed.json("ledger")
    assert len(rows) > 1
    assert "The first 1; --limit" in deployed.run("ledger", "--limit", "1").splitlines()[-1]
    assert deployed.json("ledger", "--schedule", rows[1]["schedule"]) == rows[1:2]


def test_a_schedule_suspended_by_hand_stays_so_through_deploys(deployed: Project) -> None:
    deployed.run("schedules", "suspend", "report_daily")
    deployed.edit("count: 2", "count: 3")
    deployed.run("deploy")
    assert "suspended, set by cli" in deployed.run("schedules", "show", "report_daily")


def test_several_are_switched_together_or_not_at_all(deployed: Project) -> None:
    error = deployed.refused("schedules", "suspend", "report_daily", "report_at_sex")
    assert error.hint == 'did you mean "report_at_six"?'
    assert {row["status"] for row in deployed.json("schedules", "list")} == {"active", "suspended"}
    printed = deployed.run("schedules", "suspend", "report_daily", "report_at_six")
    assert [line.partition(":")[0] for line in printed.splitlines()] == [
        "sales/report_daily is suspended",
        "sales/report_at_six is suspended",
    ]
    assert {row["status"] for row in deployed.json("schedules", "list")} == {"suspended"}


def test_the_journal_has_the_reasons_of_deploy_and_delete(deployed: Project) -> None:
    deployed.run("schedules", "delete", "report_daily", "--reason", "no longer read")
    deployed.run("deploy", "--reason", "read again")

    store = deployed.store()
    with store.reading() as reader:
        entries = [entry.data for entry in reader.journal() if entry.kind is EntryKind.DEPLOY]
    store.close()
    assert [(each["by"], each.get("why")) for each in entries[-2:]] == [
        (ME, "no longer read"),
        (ME, "read again"),
    ]


def test_delete_says_what_becomes_of_what_waits(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    printed = deployed.run("schedules", "delete", "report_daily", "report_at_six")
    assert printed == (
        "sales/report_at_six is deleted: no waiting jobs\n"
        "sales/report_daily is deleted: 1 waiting job is discarded with D-DELETED\n"
    )
    assert "+ schedule report_daily" in deployed.run("plan", exit_code=2)


def test_trigger_makes_a_job_due_at_the_next_tick(deployed: Project) -> None:
    printed = deployed.run("schedules", "trigger", "report_daily")
    assert "of sales/report_daily is due at the next tick" in printed
    deployed.arrive()
    assert "PENDING_LAUNCH" in deployed.run("jobs", "list")


def test_trigger_of_a_schedule_for_each_key_needs_the_key(deployed: Project) -> None:
    deployed.run("schedules", "resume", "report_by_day")
    assert "--key" in deployed.refused("schedules", "trigger", "report_by_day").hint
    deployed.run("schedules", "trigger", "report_by_day", "--key", "2026-03-09", "--force")
    assert [job["key"] for job in deployed.json("jobs", "list")] == ["2026-03-09"]
    (job,) = deployed.json("jobs", "list")
    assert deployed.json("jobs", "show", job["id"])["by_hand"] == "force"


UNKNOWN = [
    (["schedules", "show", "report_dayly"], 'did you mean "report_daily"?'),
    (["schedules", "show", "sale/report_daily"], 'did you mean "sales/report_daily"?'),
    (["schedules", "list", "--app", "sails"], 'did you mean "sales"?'),
    (["ledger", "--app", "sails"], 'did you mean "sales"?'),
    (["jobs", "list", "--schedule", "report_dayly"], 'did you mean "report_daily"?'),
    (["why", "report_dayly"], 'did you mean "report_daily"?'),
    (["schedules", "trigger", "report_dayly"], 'did you mean "report_daily"?'),
]


@pytest.mark.parametrize(("command", "hint"), UNKNOWN)
def test_an_unknown_name_is_refused_with_the_closest_known(
    deployed: Project, command: list[str], hint: str
) -> None:
    assert deployed.refused(*command).hint == hint


def test_a_name_that_two_apps_have_must_be_written_whole(deployed: Project) -> None:
    deployed.write("other", sales_as("other"))
    deployed.run("deploy")
    error = deployed.refused("schedules", "show", "report_daily")
    assert error.message == 'several apps have a schedule "report_daily"'
    assert error.hint == "write one of other/report_daily, sales/report_daily"
    assert "other/report_daily" in deployed.run("schedules", "show", "other/report_daily")


COMMANDS = [
    ["schedules", "list"],
    ["schedules", "suspend", "x"],
    ["jobs", "list"],
    ["jobs", "show", "x"],
    ["jobs", "cancel", "x"],
    ["jobs", "requeue", "x"],
    ["gauge", "set", "cpu", "1"],
    ["events", "list"],
    ["ledger"],
    ["why", "x"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_before_the_first_deploy_there_is_no_store_and_none_is_made(
    project: Project, command: list[str]
) -> None:
    error = project.refused(*command)
    assert "there is no store at" in error.message
    assert "tidegate deploy" in error.hint
    assert not (project.folder / ".tidegate").exists()
