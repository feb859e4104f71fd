"""`tidegate deployments`: the log, what each changed, the difference, the way back."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.databases import SQL_KINDS, new_url
from tests.tidegate.project import SALES, SETTINGS, Project, sales_as
from tests.worlds.by import ME
from tidegate.cli.main import application

pytestmark = pytest.mark.slow  # whole commands


@pytest.fixture(params=SQL_KINDS)
def shop(
    project: Project, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Project:
    """A project with two deployments: the second changed a trigger, deleted a schedule and added an app."""
    monkeypatch.setenv("TIDEGATE_STORE_URL", new_url(request.param, request, tmp_path))
    (project.folder / "tidegate.toml").write_text(f'[project]\nname = "shop"\n{SETTINGS}')
    project.run("deploy", "--reason", "the first")
    changed = SALES.replace("count: 2", "count: 3")
    project.write("sales", changed[: changed.index("  report_at_six")])
    project.write("other", sales_as("other"))
    project.run("deploy")
    return project


def numbers(shop: Project) -> list[int]:
    return [each["number"] for each in shop.json("deployments", "log")]


def triggers(shop: Project) -> dict[str, str]:
    return {each["ref"]: each["trigger"] for each in shop.json("schedules", "list") if "ref" in each}


def test_log_and_show_say_who_changed_what(shop: Project) -> None:
    second, first = shop.json("deployments", "log")
    assert (first["by"], first["reason"], second["reason"]) == (ME, "the first", "")
    assert first["apps"]["sales"]["action"] == "create"
    shown = shop.run("deployments", "show", str(second["number"]))
    assert "trigger.count: 2 -> 3" in shown and "report_at_six" in shown and "+ app other" in shown
    assert "the first" in shop.run("deployments", "log")
    assert "there is no deployment 99999" in shop.refused("deployments", "show", "99999").message


def test_diff_compares_two_deployments_or_one_with_what_is_deployed(shop: Project) -> None:
    second, first = numbers(shop)
    between = shop.run("deployments", "diff", str(first), str(second), exit_code=2)
    assert "trigger.count: 2 -> 3" in between
    assert "trigger.count: 3 -> 2" in shop.run("deployments", "diff", str(second), str(first), exit_code=2)
    shop.run("deployments", "diff", str(second))
    assert between == shop.run("deployments", "diff", str(first), exit_code=2)


def test_a_rollback_is_a_new_deployment(shop: Project) -> None:
    second, first = numbers(shop)
    shop.run("schedules", "suspend", "sales/report_daily")
    printed = shop.run("deployments", "rollback", str(first), "--reason", "the new count never comes")
    assert "trigger.count: 3 -> 2" in printed

    third, *_ = shop.json("deployments", "log")
    assert (third["rollback_to"], third["reason"]) == (first, "the new count never comes")
    found = {each["ref"]: each["status"] for each in shop.json("schedules", "list")}
    assert found["sales/report_daily"] == "suspended"
    assert found["sales/report_at_six"] == "active"
    # It did not exist then, and nothing asked for its removal.
    assert "other/report_daily" in found
    assert "trigger.count: 2 -> 3" in shop.run("plan", exit_code=2)
    message = shop.refused("deployments", "rollback", str(first), "--reason", "again").message
    assert "nothing differs from deployment" in message
    # And the way forward again.
    shop.run("deployments", "rollback", str(second), "--reason", "no, it comes")
    shop.run("plan")


def test_a_rollback_removes_apps_only_if_that_is_asked_for(shop: Project) -> None:
    first = numbers(shop)[-1]
    shop.run("deployments", "rollback", str(first), "--reason", "x", "--remove-apps")
    assert {each["ref"].partition("/")[0] for each in shop.json("schedules", "list")} == {"sales"}
    created = shop.json("deployments", "log")[1]["number"]
    shop.run("deployments", "rollback", str(created), "--reason", "x", "--app", "other")
    assert "other/report_daily" in {each["ref"] for each in shop.json("schedules", "list")}


def test_a_rollback_across_a_rename_and_an_unfinished_one(shop: Project) -> None:
    shop.edit("  make_report: {run", "  build_report: {renamed_from: make_report, run")
    text = (shop.folder / "schedules/sales.yaml").read_text()
    shop.write("sales", text.replace("program: make_report", "program: build_report"))
    shop.run("deploy")
    before = numbers(shop)[1]
    shop.run("deployments", "rollback", str(before), "--reason", "the former name")
    assert "make_report" in shop.run("schedules", "show", "sales/report_daily")


def test_a_rollback_needs_a_reason_and_a_number_that_exists(shop: Project) -> None:
    assert "has a reason" in shop.refused("deployments", "rollback", "1", "--reason", " ").message
    assert CliRunner().invoke(application, ["deployments", "rollback", "1"]).exit_code == 64
    assert "no deployment" in shop.refused("deployments", "rollback", "99999", "--reason", "x").message


def test_at_a_terminal_a_rollback_asks(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    second, first = numbers(shop)
    shop.arrive("2026-03-09")
    monkeypatch.setattr("tidegate.cli.operate.deployments.at_terminal", lambda *_: True)
    arguments = ["deployments", "rollback", str(first), "--reason", "x"]
    declined = CliRunner().invoke(application, arguments, input="n\n")
    assert declined.exit_code == 1 and "is discarded with D-UPDATED" in declined.output
    assert numbers(shop) == [second, first]
    assert CliRunner().invoke(application, arguments, input="y\n").exit_code == 0
