"""Several projects in one store: `plan`, `deploy` and `dev` touch the apps of their own project alone."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.tidegate.project import SALES, Project, sales_as
from tidegate.cli.develop.dev import redeploy
from tidegate.cli.main import application
from tidegate.project.settings import load_settings

OTHER = sales_as("other")
STAYS = "= app sales is not in the YAML and stays; `tidegate deploy --remove-apps` removes it"


def apps(project: Project) -> dict[str, str]:
    store = project.store()
    with store.reading() as reader:
        found = {app.name: app.project for app in reader.apps()}
    store.close()
    return found


@pytest.fixture
def neighbour(deployed: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A second project, with an app of its own, in the store of one whose app is deployed."""
    folder = tmp_path / "neighbour"
    folder.mkdir()
    monkeypatch.setenv("TIDEGATE_STORE_URL", load_settings(deployed.folder).store_url)
    monkeypatch.chdir(folder)
    project = Project(folder)
    (folder / "schedules/sales.yaml").unlink()
    project.write("other", OTHER)
    return project


def removed(project: Project) -> Project:
    """The project with another app in place of its deployed one."""
    (project.folder / "schedules/sales.yaml").unlink()
    project.write("other", OTHER)
    return project


def test_a_project_never_touches_the_apps_of_another(neighbour: Project, tmp_path: Path) -> None:
    assert "sales" not in neighbour.run("plan", "--remove-apps", exit_code=2)
    neighbour.run("deploy", "--remove-apps")
    redeploy(load_settings())
    assert apps(neighbour) == {"other": "neighbour", "sales": tmp_path.name}


def test_an_app_of_another_project_is_refused_with_its_owner_and_the_remedy(
    neighbour: Project, tmp_path: Path
) -> None:
    neighbour.write("other", SALES)
    printed = neighbour.run("plan", exit_code=1)
    assert f'refused: app sales belongs to project "{tmp_path.name}"' in printed
    assert neighbour.json("plan", exit_code=1)["taken"] == [{"name": "sales", "owner": tmp_path.name}]
    error = neighbour.refused("deploy", "--force")
    assert error.message == f'app sales belongs to project "{tmp_path.name}", and this project is "neighbour"'
    assert f'name = "{tmp_path.name}" below [project] in tidegate.toml' in error.hint
    assert not redeploy(load_settings())
    (neighbour.folder / "tidegate.toml").write_text(f'[project]\nname = "{tmp_path.name}"\n')
    assert neighbour.run("deploy").startswith("No changes.")


def test_an_app_that_left_the_yaml_stays_and_the_output_says_how_to_remove_it(deployed: Project) -> None:
    project = removed(deployed)
    assert STAYS in project.run("plan", exit_code=2)
    assert STAYS in project.run("deploy")
    assert project.json("deploy")["stays"] == ["sales"]
    assert redeploy(load_settings())
    assert set(apps(project)) == {"other", "sales"}
    assert "- app sales" in project.run("deploy", "--remove-apps")
    assert set(apps(project)) == {"other"}


@pytest.mark.parametrize(("answer", "left"), [("y", {"other"}), ("n", {"other", "sales"})])
def test_a_person_at_a_terminal_is_asked(
    deployed: Project, monkeypatch: pytest.MonkeyPatch, answer: str, left: set[str]
) -> None:
    project = removed(deployed)
    monkeypatch.setattr("tidegate.cli.develop.deploy.at_terminal", lambda format: True)
    result = CliRunner().invoke(application, ["deploy"], input=f"{answer}\n")
    assert result.exit_code == 0
    assert "- app sales" in result.output
    assert "The YAML does not have sales. Remove what is listed above?" in result.output
    assert (STAYS in result.output) is (answer == "n")
    assert set(apps(project)) == left


def test_one_app_of_several_is_deployed(deployed: Project) -> None:
    deployed.edit("count: 2", "count: 3")
    deployed.write("other", OTHER)
    deployed.write("third", sales_as("third"))
    printed = deployed.run("plan", "--app", "other", "--app", "third", exit_code=2)
    assert "+ app other" in printed and "+ app third" in printed and "sales" not in printed
    deployed.run("deploy", "--app", "other")
    assert set(apps(deployed)) == {"other", "sales"}
    assert "trigger.count: 2 -> 3" in deployed.run("plan", exit_code=2)
    error = deployed.refused("deploy", "--app", "othr")
    assert 'has no app "othr"' in error.message
    assert 'did you mean "other"?' in error.hint


def test_the_settings_have_the_default_of_updating(deployed: Project) -> None:
    (deployed.folder / "tidegate.toml").write_text("[deploy]\nupdate_schedules = false\n")
    deployed.edit("count: 2", "count: 3")
    assert "= schedule report_daily" in deployed.run("plan")
    assert "= schedule report_daily" in deployed.run("deploy")
    assert "~ schedule report_daily" in deployed.run("deploy", "--update-schedules")


@pytest.mark.parametrize("name", ['" "', '"a\\nb"', f'"{"x" * 256}"'])
def test_a_name_that_cannot_be_shown_is_refused(project: Project, name: str) -> None:
    (project.folder / "tidegate.toml").write_text(f"[project]\nname = {name}\n")
    assert "the name of the project must be a printable text" in project.refused("plan").message
