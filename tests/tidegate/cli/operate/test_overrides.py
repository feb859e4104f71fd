"""`tidegate overrides`, and changes by hand that expire."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.tidegate.project import Project
from tidegate.domain.error import WrongUsage
from tidegate.scheduler.tick.tick import tick


def test_a_suspension_is_listed_shown_and_reverted(deployed: Project) -> None:
    printed = deployed.run("schedules", "suspend", "report_daily", "--reason", "late feed", "--expires", "4h")
    assert printed.startswith("sales/report_daily is suspended until 20")
    assert "late feed" in deployed.run("overrides", "list")
    (found,) = deployed.json("overrides", "list")
    assert (found["schedule"], found["kind"], found["override"]) == ("report_daily", "status", "suspended")
    assert found["owner"].startswith("cli")
    assert "the schedule is active again" in deployed.run("overrides", "show", "report_daily")
    assert "by hand: suspended by cli" in deployed.run("why", "report_daily")
    assert deployed.run("overrides", "revert", "report_daily") == "sales/report_daily is active again\n"
    assert deployed.run("overrides", "list") == "Nothing was changed by hand.\n"


def test_an_update_expires_and_plan_shows_the_three_views(deployed: Project) -> None:
    printed = deployed.run(
        "schedules", "update", "report_daily", "--set", "timeout=5h", "--reason", "slow", "--expires", "2h"
    )
    assert "sales/report_daily is changed by cli" in printed
    planned = deployed.run("plan", exit_code=2)
    assert "timeout.after: git 1d, deployed 1d, override 5h" in planned
    assert "-> ends: the YAML replaces it" in planned
    (override,) = deployed.json("plan", exit_code=2)["overrides"]
    assert (override["fate"], override["reason"]) == ("replaced", "slow")
    store = deployed.store()
    tick(store, datetime.now(UTC) + timedelta(hours=3))
    store.close()
    assert "No changes." in deployed.run("plan")


def test_a_schedule_is_created_until_it_is_reverted(deployed: Project) -> None:
    setting = ("--set", "program=make_report", "--set", 'trigger={cron: "0 7 * * *"}')
    deployed.run("schedules", "create", "sales/extra", *setting)
    assert "created" in deployed.run("overrides", "list")
    assert deployed.run("overrides", "revert", "extra") == "sales/extra is deleted\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("schedules", "suspend", "report_daily", "--expires", "soon"),
        ("schedules", "suspend", "report_daily", "--expires", "0s"),
        ("schedules", "resume", "report_daily", "--expires", "2001-01-01T00:00:00Z"),
        ("apps", "hold", "sales", "--expires", "1x"),
        ("schedules", "update", "report_daily"),
        ("schedules", "update", "report_daily", "--set", "timeout"),
        ("schedules", "update", "report_daily", "--set", "status=active"),
        ("schedules", "create", "extra", "--set", "program=make_report"),
    ],
)
def test_wrong_usage_changes_nothing(deployed: Project, arguments: tuple[str, ...]) -> None:
    assert isinstance(deployed.refused(*arguments), WrongUsage)
    assert deployed.json("overrides", "list") == []


def test_a_wrong_text_is_refused(deployed: Project) -> None:
    refused = deployed.refused("schedules", "update", "report_daily", "--set", "timeout=soon")
    assert "its text would be wrong" in refused.message
    assert deployed.json("overrides", "list") == []
