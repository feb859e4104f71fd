"""`plan --out`, `deploy --plan`, and the questions before something is lost."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.tidegate.project import Project, sales_as
from tidegate.cli.main import application

pytestmark = pytest.mark.slow  # whole commands


@pytest.fixture
def plan(deployed: Project) -> Path:
    """A saved plan that changes one schedule."""
    deployed.edit("count: 2", "count: 3")
    deployed.run("plan", "--out", "the.plan", exit_code=2)
    return deployed.folder / "the.plan"


def test_a_plan_that_holds_is_deployed_once(deployed: Project, plan: Path) -> None:
    assert json.loads(plan.read_text())["changes"]["apps"]
    # Neither a comment nor another place in the file is a change.
    deployed.edit("app: sales", "# the sales\napp: sales")
    assert "trigger.count: 2 -> 3" in deployed.run("deploy", "--plan", str(plan))
    error = deployed.refused("deploy", "--plan", str(plan))
    assert "schedule sales/report_daily was changed in the store since: revision 1, now 2" in error.message
    assert "plan --out" in error.hint


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (
            [["schedules", "suspend", "report_at_six"]],
            "schedule sales/report_at_six was changed in the store",
        ),
        ([["schedules", "delete", "report_at_six"]], "schedule sales/report_at_six was deleted since"),
    ],
)
def test_a_plan_is_refused_once_the_store_has_moved(
    deployed: Project, plan: Path, commands: list[list[str]], said: str
) -> None:
    for command in commands:
        deployed.run(*command)
    assert said in deployed.refused("deploy", "--plan", str(plan)).message
    assert "trigger.count: 2 -> 3" in deployed.run("plan", exit_code=2)


def test_a_plan_is_refused_once_the_yaml_has_moved(deployed: Project, plan: Path) -> None:
    deployed.edit("count: 3", "count: 4")
    deployed.write("other", sales_as("other"))
    message = deployed.refused("deploy", "--plan", str(plan)).message
    assert "app sales has changed in the YAML" in message
    assert "app other is new in the YAML" in message


def test_a_plan_is_refused_once_the_settings_have_moved(
    deployed: Project, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (deployed.folder / "tidegate.toml").open("a") as file:
        file.write('[env.prod.warehouse]\npath = "elsewhere"\n')
    monkeypatch.setenv("TIDEGATE_ENV", "prod")
    message = deployed.refused("deploy", "--plan", str(plan)).message
    assert "the setting environment was empty, now prod" in message
    assert "the setting warehouse.path was" in message


def test_a_plan_is_refused_whose_file_shows_something_else(deployed: Project, plan: Path) -> None:
    found = json.loads(plan.read_text())
    found["changes"]["apps"][0]["schedules"] = []
    plan.write_text(json.dumps(found))
    error = deployed.refused("deploy", "--plan", str(plan))
    assert "its file was edited" in error.message
    assert "plan --out" in error.hint
    assert "trigger.count: 2 -> 3" in deployed.run("plan", exit_code=2)


def test_a_plan_says_itself_what_is_deployed(deployed: Project, plan: Path) -> None:
    deployed.run("deploy", "--plan", str(plan), "--force", exit_code=64)
    plan.write_text("{}")
    assert "is not a saved plan" in deployed.refused("deploy", "--plan", str(plan)).message
    assert "cannot be read" in deployed.refused("deploy", "--plan", "no.plan").message
    assert "cannot be written" in deployed.refused("plan", "--out", "no/the.plan").message
    assert "is a folder" in deployed.refused("plan", "--out", "").message


def answered(project: Project, monkeypatch: pytest.MonkeyPatch, answer: str, *arguments: str) -> Result:
    for module in ("develop.deploy", "operate.schedules"):
        monkeypatch.setattr(f"tidegate.cli.{module}.at_terminal", lambda *_: True)
    return CliRunner().invoke(application, list(arguments), input=answer)


def test_at_a_terminal_deploy_asks_before_it_discards(
    deployed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployed.arrive("2026-03-09")
    deployed.edit("count: 2", "count: 3")
    declined = answered(deployed, monkeypatch, "n\n", "deploy")
    assert declined.exit_code == 1
    assert "sales/report_daily: 1 waiting job is discarded with D-UPDATED" in declined.output
    assert deployed.json("jobs", "list")[0]["state"] == "PENDING_TRIGGER"
    assert answered(deployed, monkeypatch, "y\n", "deploy").exit_code == 0
    assert deployed.json("jobs", "list", "--all")[0]["reason"] == "D-UPDATED"
    # Nothing is lost, so there is no question.
    assert answered(deployed, monkeypatch, "", "deploy").exit_code == 0


def test_at_a_terminal_deploy_asks_before_it_deletes_a_schedule(
    deployed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (deployed.folder / "schedules/sales.yaml").read_text()
    deployed.write("sales", text[: text.index("  report_at_six")])
    assert "sales/report_at_six is deleted" in answered(deployed, monkeypatch, "n\n", "deploy").output
    assert len(deployed.json("schedules", "list")) == 3
    assert answered(deployed, monkeypatch, "", "deploy", "--yes").exit_code == 0
    assert len(deployed.json("schedules", "list")) == 2


def test_at_a_terminal_delete_asks(deployed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    declined = answered(deployed, monkeypatch, "n\n", "schedules", "delete", "report_daily")
    assert declined.exit_code == 1 and "sales/report_daily is deleted" in declined.output
    assert len(deployed.json("schedules", "list")) == 3
    assert answered(deployed, monkeypatch, "y\n", "schedules", "delete", "report_daily").exit_code == 0
    assert answered(deployed, monkeypatch, "", "schedules", "delete", "report_by_day", "--yes").exit_code == 0
    assert len(deployed.json("schedules", "list")) == 1
