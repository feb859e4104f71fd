"""`--locations`: real locations are loaded in a child process, and compared with the programs of the YAML."""

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from tests.environments import having
from tests.tidegate.project import Project
from tidegate.compiler.compile import Compilation
from tidegate.dagster_defs.compare.question import Answers, Request
from tidegate.domain.error import UserError
from tidegate.project import locations
from tidegate.project.locations import compare_locations
from tidegate.project.settings.settings import load_settings
from tidegate.project.yaml_files import compile_paths
from tidegate.scheduler.launch.active_host import take
from tidegate.scheduler.launch.obstacles import note_obstacles
from tidegate.scheduler.model.obstacle import Obstacle
from tidegate.scheduler.model.reason import Reason

pytestmark = pytest.mark.dagster

TESTS = Path(__file__).parents[3]
ACME = TESTS / "existing" / "acme"
GOLDEN = [TESTS / "golden" / name for name in ("N332_locations", "L481_several_partitions")]

OURS = {"python_module": {"module_name": "tidegate.definitions", "location_name": "tidegate"}}

AWAY = """
app: core
programs:
  away: {job: some_job, location: %s}
  more: {job: some_job, location: %s}
schedules:
  away: {program: away, trigger: {cron: "0 6 * * *"}}
"""


def listing(folder: Path, **files: Path) -> Path:
    """A workspace file with our location and some others."""
    others = [
        {"python_file": {"relative_path": str(file), "location_name": name}} for name, file in files.items()
    ]
    found = folder / "workspace.yaml"
    found.write_text(yaml.safe_dump({"load_from": [OURS, *others]}))
    return found


def broken(folder: Path) -> Path:
    file = folder / "broken.py"
    file.write_text("import nowhere_installed\n")
    return file


@pytest.fixture
def loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a child process has answered once, it answers to the same question of each command of a test."""
    kept: dict[bytes, tuple[bytes, str]] = {}
    run = locations._run_child

    def once(request: Request, project: Path, answers: Path, log: Path) -> str:
        asked = msgspec.json.encode(request)
        if asked not in kept:
            ended = run(request, project, answers, log)
            kept[asked] = answers.read_bytes(), ended
        answers.write_bytes(kept[asked][0])
        return kept[asked][1]

    monkeypatch.setattr(locations, "_run_child", once)


def of_locations(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The notes that a location was not loaded."""
    return [each for each in found if each["code"] == "L480"]


def test_what_the_locations_answer_is_what_the_golden_files_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Answers] = []
    files = {"acme": ACME / "definitions.py", "twin": ACME / "twin.py", "broken": broken(tmp_path)}

    def keep(compilation: Compilation, answers: Answers, *_: Path, required: bool) -> Compilation:
        given.append(answers)
        return compilation

    monkeypatch.setattr(locations, "with_answers", keep)
    compare_locations(
        compile_paths([each / "in.yaml" for each in GOLDEN]), tmp_path, [listing(tmp_path, **files)]
    )

    kept = [msgspec.json.decode((each / "locations.json").read_bytes(), type=Answers) for each in GOLDEN]
    (found,) = given
    assert found.problems == kept[0].problems
    assert found.answers == {name: answer for each in kept for name, answer in each.answers.items()}


@pytest.mark.usefixtures("loaded_once")
def test_a_location_that_does_not_load_is_a_note_and_an_error_where_it_is_required(project: Project) -> None:
    project.write("sales", AWAY.replace("core", "sales") % ("broken", "broken"))
    listing(project.folder, broken=broken(project.folder))

    (noted,) = of_locations(project.json("lint", "--locations"))
    assert (noted["code"], noted["severity"], noted["line"]) == ("L480", "note", 4)
    assert noted["summary"] == (
        "location broken was not loaded: ModuleNotFoundError: No module named 'nowhere_installed';"
        " not compared"
    )
    assert "2 programs" in noted["hint"]
    (required,) = of_locations(project.json("lint", "--require-locations", exit_code=1))
    assert (required["code"], required["severity"]) == ("L480", "error")
    project.run("deploy", "--require-locations", "--locations", exit_code=1)
    assert "note[L480]: location broken" in project.run_with_errors("plan", "--locations", exit_code=2)


@pytest.mark.usefixtures("loaded_once")
def test_plan_prints_the_assets_that_a_selection_has(project: Project) -> None:
    selected = "{assets: 'key:flat or key:\"raw/*\"', partitions: {cycle: day, start: 2026-01-01}}"
    project.write("sales", f"app: sales\nprograms:\n  two: {selected}\n")
    listed = listing(project.folder, acme=ACME / "definitions.py")

    text = project.run("plan", "--locations", str(listed), exit_code=2)
    value = project.json("plan", "--require-locations", exit_code=2)

    assert "sales/two selects 2 assets: flat, raw/orders" in text
    assert value["selections"] == {"sales/two": ["flat", "raw/orders"]}


def test_a_location_that_hangs_is_reported_and_its_process_is_gone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.folder / "hangs.py").write_text("import time\nopen('hangs', 'w')\ntime.sleep(600)\n")
    project.write("sales", AWAY.replace("core", "sales") % ("hangs", "hangs"))
    listing(project.folder, hangs=project.folder / "hangs.py")
    monkeypatch.setattr(locations, "LOCATION_SECONDS", 20.0)
    monkeypatch.setenv("HANGS_OF", str(project.folder))

    (noted,) = of_locations(project.json("lint", "--locations"))

    assert noted["summary"] == "location hangs was not loaded: it was not loaded within 20 s; not compared"
    assert (project.folder / "hangs").exists()
    assert not having("HANGS_OF", project.folder)


def test_without_a_program_that_exists_nothing_is_loaded(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locations, "_run_child", lambda *_: pytest.fail("a child process"))

    project.run("lint", "--require-locations")


def test_a_workspace_without_the_location_says_what_it_lists(project: Project) -> None:
    project.write("sales", AWAY.replace("core", "sales") % ("acme", "acme"))

    (nothing,) = of_locations(project.json("lint", "--locations"))
    listing(project.folder)
    (ours,) = of_locations(project.json("lint", "--locations"))

    assert nothing["summary"] == (
        "no location was loaded: there is no workspace.yaml or pyproject.toml; not compared"
    )
    assert ours["summary"] == (
        "no location was loaded: workspace.yaml lists no other location than this project; not compared"
    )


def test_a_file_that_does_not_exist_is_refused(project: Project) -> None:
    refused = project.refused("plan", "--locations", "elsewhere.yaml")

    assert isinstance(refused, UserError)
    assert "elsewhere.yaml" in refused.message


def test_plan_and_deploy_note_the_programs_that_wait_for_a_host_while_none_is_active(
    project: Project,
) -> None:
    project.write("core", AWAY % ("acme", "acme"))
    note = "note[W-HOST]: core/away, core/more: no host is active: tidegate host"

    assert note in project.run("plan", exit_code=2)
    assert project.json("plan", exit_code=2)["waiting_for_host"] == ["core/away", "core/more"]
    assert note in project.run("deploy")

    with closing(project.store()) as store, store.transaction() as transaction:
        take(transaction, load_settings().name, "a host", datetime.now(UTC) + timedelta(seconds=3))
    assert "W-HOST" not in project.run("plan")


def test_in_a_location_of_theirs_only_what_the_dispatcher_cannot_launch_is_noted(project: Project) -> None:
    project.write("core", AWAY % ("acme", "acme"))
    (project.folder / "pyproject.toml").write_text('[tool.dagster]\nmodule_name = "acme.definitions"\n')

    assert "W-HOST" not in project.run("deploy")
    obstacle = Obstacle(reason=Reason.W_HOST, text="no host is active: tidegate host")
    with closing(project.store()) as store:
        note_obstacles(store, {"core": {"more": obstacle}}, datetime.now(UTC))

    assert "note[W-HOST]: core/more: no host" in project.run("plan")
