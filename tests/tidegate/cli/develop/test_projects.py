"""Several projects in one store: `plan`, `deploy` and `dev` touch the apps of their own project alone."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.tidegate.project import SALES, SETTINGS, Project, sales_as
from tidegate.cli.develop.dev import redeploy
from tidegate.cli.main import application
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.deployed import APPS

pytestmark = pytest.mark.slow  # whole commands

OTHER = sales_as("other")
STAYS = "= app sales is not in the YAML and stays; `tidegate deploy --remove-apps` removes it"


def apps(project: Project) -> dict[str, str]:
    store = project.store()
    with store.reading() as reader:
        found = {app.name: app.project for app in reader.records(APPS)}
    store.close()
    return found


@pytest.fixture
def deployed(deployed_as_its_folder: Project) -> Project:
    return deployed_as_its_folder


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


FINANCE = """\
app: finance
datasets: {totals: {partitions: {cycle: day, start: 2026-01-01}}}
programs:
  total: {run: programs.total, reads: [sales/report], writes: [totals]}
schedules:
  daily: {program: total, for_each: day, trigger: {partitions: {dataset: sales/report}}, status: active}
examples:
  - name: a report of the other project
    start: 2026-03-10T00:00:00
    given: [{at: +1h, partitions: {dataset: sales/report, keys: [2026-03-09]}}]
    until: +2h
    expect: [{at: +1h, launch: daily, partitions: [2026-03-09]}]
"""


@pytest.fixture
def finance(neighbour: Project) -> Project:
    """A second project whose app waits for the first one's dataset."""
    (neighbour.folder / "schedules/other.yaml").unlink()
    neighbour.write("finance", FINANCE)
    return neighbour


def test_names_of_another_project_are_found_in_the_store(finance: Project) -> None:
    assert finance.run("lint") == "ok: 1 app, 1 schedule\n"
    assert "1 scenario: 1 passed" in finance.run("test", "--brief")
    assert "+ app finance" in finance.run("plan", exit_code=2)
    finance.run("deploy")
    finance.write("finance", FINANCE.replace("reads: [sales/report]", "reads: [sales/reprot]"))
    assert 'did you mean "sales/report"?' in finance.run("lint", exit_code=1)


def test_a_store_that_cannot_be_read_is_a_warning_beside_the_mistake(
    finance: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_STORE_URL", f"sqlite:///{finance.folder}/tidegate.toml")
    (finance.folder / "tidegate.toml").write_text("[project]\n")
    result = CliRunner().invoke(application, ["lint"])
    assert "warning: apps of other projects cannot be looked up" in result.stderr
    assert "error[N301]: the app of a dataset must be in these files or in the store" in result.stdout


def test_what_another_project_needs_is_removed_by_force_only(
    finance: Project, deployed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    finance.run("deploy")
    monkeypatch.chdir(deployed.folder)
    (deployed.folder / "schedules/sales.yaml").write_text("app: sales\n")
    needs = "it triggers schedule finance/daily and is read by program finance/total"
    assert f"refused: dataset report of sales is removed, but {needs}" in deployed.run("plan", exit_code=1)
    refused = deployed.refused("deploy")
    assert "remove dataset sales/report" in refused.message
    assert refused.hint is not None and refused.hint.startswith("change finance first, so that it does not")
    deployed.run("deploy", "--force")
    assert set(apps(deployed)) == {"finance", "sales"}


def test_a_folder_inside_the_warehouse_is_refused(project: Project) -> None:
    project.edit("path: landing/orders", "path: warehouse/orders")
    assert "a dataset with a path is outside the warehouse" in project.run("lint", exit_code=1)


@pytest.mark.parametrize("warehouse", [".", "..", "{folder}", "file://{folder}/landing", "file:{folder}"])
def test_a_folder_inside_the_warehouse_is_refused_however_the_settings_name_it(
    project: Project, warehouse: str
) -> None:
    place = warehouse.format(folder=project.folder)
    (project.folder / "tidegate.toml").write_text(f'{SETTINGS}path = "{place}"\n')
    assert "a dataset with a path is outside the warehouse" in project.run("lint", exit_code=1)


@pytest.mark.parametrize(
    ("paths_from", "warehouse", "code"),
    [
        ("s3a://lake/a", "s3a://lake/a/tables", 0),
        ("s3a://lake/a", "s3a://lake/a/landing", 1),
        ("s3a://lake/a", "s3a://lake", 1),
        ("s3a://lake/a", "s3a://lake/ab", 0),
        (".", "s3a://lake", 0),
        ("file:///srv", "/srv/landing", 1),
    ],
)
def test_a_url_of_the_warehouse_is_compared_with_where_paths_begin(
    project: Project, paths_from: str, warehouse: str, code: int
) -> None:
    catalog = '[iceberg.catalog]\ntype = "rest"\nuri = "http://x"\n'
    places = f'path = "{warehouse}"\npaths_from = "{paths_from}"\n'
    (project.folder / "tidegate.toml").write_text(SETTINGS + places + catalog)
    assert ("is outside the warehouse" in project.run("lint", exit_code=code)) is bool(code)


def test_a_folder_of_another_project_is_refused_by_plan_and_deploy(
    neighbour: Project, tmp_path: Path
) -> None:
    """The neighbour's settings lead into the folder of the project whose app is deployed."""
    neighbour.run("deploy")
    (neighbour.folder / "tidegate.toml").write_text(SETTINGS + 'paths_from = ".."\n')
    neighbour.write("other", OTHER.replace("landing/other", "landing/orders"))
    owner = f'project "{tmp_path.name}"'
    summary = (
        f"dataset other/orders would share files with dataset sales/orders of {owner},"
        f" in {tmp_path}/landing/orders"
    )
    printed = neighbour.run("plan", exit_code=1)
    assert f"refused: {summary}" in printed and "name it sales/orders and delete this dataset" in printed
    assert neighbour.json("plan", exit_code=1)["blocked"][0]["forcible"]
    assert neighbour.refused("deploy").message == summary
    assert not redeploy(load_settings())
    # On another machine the folder of the same name is another one; that is said once.
    neighbour.run("deploy", "--force")
    assert neighbour.run("plan").startswith("No changes.")

    neighbour.write("other", OTHER.replace("landing/other", "warehouse/orders"))
    inside = f"would share files with the warehouse of {owner}, in {tmp_path}/warehouse/orders"
    assert inside in neighbour.run("plan", exit_code=1)


def test_a_folder_of_an_app_that_left_the_yaml_is_refused_until_that_app_is_removed_or_renamed(
    deployed: Project,
) -> None:
    (deployed.folder / "schedules/sales.yaml").unlink()
    shop = OTHER.replace("landing/other", "landing/orders")
    deployed.write("other", shop)
    summary = (
        "dataset other/orders would share files with dataset sales/orders, in landing/orders:"
        " app sales is not in the YAML and still deployed"
    )
    for force in ([], ["--force"]):
        refused = deployed.refused("deploy", *force)
        assert refused.message == summary
        assert "`renamed_from: sales` in app other" in refused.hint and "--remove-apps" in refused.hint
    printed = deployed.run("plan", exit_code=1)
    assert f"refused: {summary}" in printed
    assert not deployed.json("plan", exit_code=1)["blocked"][0]["forcible"]
    assert not redeploy(load_settings())
    assert set(apps(deployed)) == {"sales"}

    deployed.run("plan", "--remove-apps", exit_code=2)
    deployed.write("other", shop.replace("app: other", "app: other\nrenamed_from: sales"))
    deployed.run("plan", exit_code=2)
    deployed.write("other", shop)
    deployed.run("deploy", "--remove-apps")
    assert set(apps(deployed)) == {"other"}


def test_an_asset_of_an_app_that_the_deployment_removes_is_free(deployed: Project) -> None:
    datasets = "datasets: {demand: {asset: acme/demand, partitions: {cycle: day, start: 2026-01-01}}}"
    deployed.write("first", f"app: first\n{datasets}\n")
    deployed.run("deploy")
    (deployed.folder / "schedules/first.yaml").unlink()
    deployed.write("second", f"app: second\n{datasets}\n")

    for kept in ([], ["--app", "second", "--remove-apps"]):
        (found,) = deployed.json("plan", *kept, exit_code=1)["diagnostics"]
        assert found["code"] == "N331"
        assert found["hint"].endswith("; or remove app first with `--remove-apps`")

    deployed.run("plan", "--remove-apps", "--out", "plan.json", exit_code=2)
    assert "- app first" in deployed.run("deploy", "--plan", "plan.json")
    assert set(apps(deployed)) == {"sales", "second"}


def test_a_folder_of_an_app_that_left_the_yaml_of_another_project_is_refused_until_that_one_removes_it(
    neighbour: Project, deployed: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (deployed.folder / "schedules/sales.yaml").write_text("app: empty\n")
    (neighbour.folder / "tidegate.toml").write_text(SETTINGS + 'paths_from = ".."\n')
    neighbour.write("other", OTHER.replace("landing/other", "landing/orders"))
    monkeypatch.chdir(deployed.folder)
    deployed.run("deploy")
    monkeypatch.chdir(neighbour.folder)
    refused = neighbour.refused("deploy")
    assert f'with dataset sales/orders of project "{tmp_path.name}"' in refused.message
    assert f'remove app sales from project "{tmp_path.name}" with `--remove-apps`' in refused.hint
    monkeypatch.chdir(deployed.folder)
    deployed.run("deploy", "--remove-apps")
    monkeypatch.chdir(neighbour.folder)
    neighbour.run("deploy")
    assert set(apps(neighbour)) == {"empty", "other"}
