"""`[lint.rules]`: what a project adds to the rules of the language, in lint, plan and deploy."""

import shutil
from pathlib import Path

import pytest

from tests.tidegate.project import Project

GOLDEN = Path(__file__).parents[1] / "golden/T511_house_rules"


@pytest.fixture
def governed(project: Project) -> Project:
    """A project with every rule, and an app that breaks each of them."""
    (project.folder / "schedules/sales.yaml").unlink()
    (project.folder / "tidegate.toml").write_text(
        (GOLDEN / "rules.toml").read_text() + '[warehouse]\ndefault_format = "parquet"\n'
    )
    shutil.copy(GOLDEN / "in.yaml", project.folder / "schedules/in.yaml")
    return project


def test_each_rule_has_a_code_and_its_severity(governed: Project) -> None:
    printed = governed.run("lint", exit_code=1)

    assert printed.replace("schedules/in.yaml", "in.yaml") == (GOLDEN / "diagnostics.txt").read_text()
    found = governed.json("lint", exit_code=1)
    assert {each["code"]: each["severity"] for each in found if each["code"].startswith("T")} == {
        "T511": "error",
        "T512": "warning",
        "T513": "warning",
        "T514": "error",
        "T515": "error",
        "T516": "warning",
        "T517": "error",
    }


def test_an_error_stops_plan_and_deploy_and_a_warning_does_not(governed: Project) -> None:
    assert "T511" in governed.run_with_errors("plan", exit_code=1)
    assert "T511" in governed.run_with_errors("deploy", exit_code=1)
    settings = governed.folder / "tidegate.toml"
    settings.write_text('[lint.rules]\nowner = "warning"\n[warehouse]\ndefault_format = "parquet"\n')
    governed.run("lint")
    governed.run("lint", "--strict", exit_code=1)
    assert "T511" in governed.run_with_errors("deploy")


def test_files_that_are_not_deployed_are_left_alone(governed: Project) -> None:
    settings = governed.folder / "tidegate.toml"
    settings.write_text(f'{settings.read_text()}[project]\nundeployed = ["schedules"]\n')

    assert "T51" not in governed.run("lint")


@pytest.mark.parametrize(
    ("rules", "wrong"),
    [
        ('owner = "always"', "lint.rules"),
        ("moon = true", "moon"),
        ("max_per_app = 5", "lint.rules"),
        ('name = { pattern = "(" }', "not a pattern"),
    ],
)
def test_a_wrong_rule_is_refused_with_the_file(governed: Project, rules: str, wrong: str) -> None:
    (governed.folder / "tidegate.toml").write_text(f"[lint.rules]\n{rules}\n")

    refused = governed.refused("lint")

    assert "tidegate.toml" in refused.message and wrong in refused.message
