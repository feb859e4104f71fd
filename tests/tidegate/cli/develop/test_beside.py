"""`tidegate init --beside`: our location comes into an existing project, whose locations keep their names."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from dagster._core.workspace.load import location_origins_from_yaml_paths
from typer.testing import CliRunner, Result

from tidegate.cli.main import application
from tidegate.dagster_defs.compare.question import Answers
from tidegate.dagster_defs.internals.workspace import get_origins_from_toml
from tidegate.domain.error import UserError
from tidegate.processes import their_jobs
from tidegate.processes.their_jobs import BY_HAND

UNASKED = "not asked in this test"

pytestmark = pytest.mark.dagster

MODULE_ALONE = """\
[project]
name = "acme"
dependencies = ["dagster", "tidegate"]

[tool.dagster]  # ours
module_name = "acme.definitions"  # since 2023

[tool.other]
module_name = "kept"
"""
NAMED = MODULE_ALONE.replace("# since 2023", '\ncode_location_name = "acme"')
SEVERAL = MODULE_ALONE.replace(
    'module_name = "acme.definitions"',
    'modules = [{type = "module", name = "acme.a"}, {type = "module", name = "acme.b"}]',
)
OF_DG = '[project]\ndependencies = ["tidegate"]\n[tool.dg.project]\nroot_module = "acme"\n'
WORKSPACE = """\
# Our locations.
load_from:
    - python_file: jobs.py # old
    - python_module:
        module_name: acme.definitions
        location_name: acme
"""


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a Dagster project of others; it is the working folder."""
    monkeypatch.delenv("TIDEGATE_PROJECT", raising=False)
    monkeypatch.chdir(tmp_path)
    # Their code is asked for jobs in test_their_jobs.py.
    monkeypatch.setattr(their_jobs, "ask", lambda _folder: Answers(problems={"": UNASKED}))
    (tmp_path / "jobs.py").write_text("mine")
    (tmp_path / ".gitignore").write_text("/.tidegate/\n")
    return tmp_path


def beside(*arguments: str) -> Result:
    return CliRunner().invoke(application, ["init", "--beside", *arguments])


def locations(folder: Path) -> list[str]:
    """The names of the locations that Dagster finds in the pyproject.toml of a folder."""
    return [each.location_name for each in get_origins_from_toml(str(folder / "pyproject.toml"))]


def of_workspace(folder: Path) -> list[str]:
    origins = location_origins_from_yaml_paths([str(folder / "workspace.yaml")])
    return [each.location_name for each in origins]


def by_hand(result: Result) -> str:
    """What is left to people, in one line, without the YAML."""
    lines = result.stdout.partition("To do by hand:")[2].partition("Next:")[0].splitlines()
    return " ".join(" ".join(line for line in lines if UNASKED not in line and BY_HAND not in line).split())


def test_a_module_alone_becomes_modules_with_both(acme: Path) -> None:
    (acme / "pyproject.toml").write_text(MODULE_ALONE)
    before = locations(acme)

    result = beside()

    assert (result.exit_code, by_hand(result)) == (0, "")
    assert before == ["acme.definitions"]
    assert locations(acme) == ["acme.definitions", "tidegate.definitions"]
    assert (acme / "pyproject.toml").read_text() == MODULE_ALONE.replace(
        'module_name = "acme.definitions"',
        'modules = [{type = "module", name = "acme.definitions"}, '
        '{type = "module", name = "tidegate.definitions"}]',
    )
    assert sorted(path.name for path in acme.iterdir()) == [
        ".gitignore",
        "jobs.py",
        "pyproject.toml",
        "schedules",
        "tidegate.toml",
    ]


def test_a_second_time_nothing_is_written(acme: Path) -> None:
    (acme / "pyproject.toml").write_text(MODULE_ALONE.replace("\n", "\r\n"))
    assert beside().exit_code == 0
    before = {path: path.read_bytes() for path in acme.rglob("*") if path.is_file()}

    result = beside()

    assert "nothing is missing" in result.stdout and by_hand(result) == ""
    assert {path: path.read_bytes() for path in acme.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("pyproject", "names"),
    [(NAMED, ["acme", "tidegate"]), (SEVERAL, ["acme.a", "acme.b", "tidegate"])],
)
def test_a_block_that_names_all_its_modules_stays_and_a_workspace_has_both(
    acme: Path, pyproject: str, names: list[str]
) -> None:
    (acme / "pyproject.toml").write_text(pyproject)
    before = locations(acme)

    result = beside()

    assert (acme / "pyproject.toml").read_text() == pyproject
    assert of_workspace(acme) == [*before, "tidegate"] == names
    assert "`dagster dev -w workspace.yaml`" in by_hand(result)


@pytest.mark.parametrize("folder", ["src/acme", "acme"])
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", OF_DG),
        ("dg.toml", 'directory_type = "project"\n[project]\nroot_module = "acme"\n'),
        ("pyproject.toml", OF_DG + '[tool.dagster]\nmodule_name = "acme.definitions"\n'),
    ],
)
def test_a_project_of_dg_gets_a_component_among_its_definitions(
    acme: Path, folder: str, file: str, text: str
) -> None:
    (acme / "pyproject.toml").write_text('[project]\ndependencies = ["tidegate"]\n')
    (acme / file).write_text(text)
    (acme / folder / "defs").mkdir(parents=True)

    result = beside()

    (written,) = acme.rglob("defs.yaml")
    read = yaml.safe_load(written.read_text())
    assert (by_hand(result), (acme / file).read_text()) == ("", text)
    assert (written.parent / read.pop("attributes")["project"]).resolve() == acme
    assert read == {"type": "tidegate.components.TidegateProject"}
    assert not (acme / "workspace.yaml").exists()
    assert "nothing is missing" in beside().stdout


def test_a_project_of_dg_without_a_folder_of_definitions_is_told_what_to_call(acme: Path) -> None:
    (acme / "pyproject.toml").write_text(OF_DG)

    result = beside()

    assert (acme / "pyproject.toml").read_text() == OF_DG
    assert "`dg scaffold defs tidegate.components.TidegateProject tidegate`" in by_hand(result)


def test_a_file_of_theirs_where_the_component_would_be_stays(acme: Path) -> None:
    (acme / "pyproject.toml").write_text(OF_DG)
    theirs = acme / "acme" / "defs" / "tidegate" / "defs.yaml"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("type: acme.Other\n")

    result = beside()

    assert theirs.read_text() == "type: acme.Other\n"
    assert "add a defs.yaml below acme/defs" in by_hand(result)


def test_without_a_block_our_entry_is_at_the_end_of_the_workspace(acme: Path) -> None:
    (acme / "workspace.yaml").write_text(WORKSPACE)
    before = of_workspace(acme)

    assert beside().exit_code == 0

    text = (acme / "workspace.yaml").read_text()
    assert text.startswith(WORKSPACE)
    assert of_workspace(acme) == [*before, "tidegate"]
    assert beside().exit_code == 0
    assert (acme / "workspace.yaml").read_text() == text


def test_without_anything_the_workspace_is_ours_and_theirs_is_asked_for(acme: Path) -> None:
    result = beside()

    assert of_workspace(acme) == ["tidegate"]
    assert "add your own code location to workspace.yaml" in by_hand(result)
    assert "add to the dependencies of the project: tidegate" in by_hand(result)


@pytest.mark.parametrize("text", ["load_from: [{python_file: jobs.py}]\n", "{}\n", "grpc: 1\n"])
def test_a_workspace_that_cannot_be_added_to_stays_and_the_entry_is_printed(acme: Path, text: str) -> None:
    (acme / "workspace.yaml").write_text(text)

    result = beside()

    assert (acme / "workspace.yaml").read_text() == text
    assert "add to load_from of workspace.yaml" in by_hand(result)
    assert yaml.safe_load(by_hand(result).partition("workspace.yaml: ")[2].partition(" - ")[0]) == {
        "python_module": {"module_name": "tidegate.definitions", "location_name": "tidegate"}
    }


def test_a_block_that_is_written_in_another_way_is_left_to_people(acme: Path) -> None:
    text = 'tool.dagster.module_name = "acme.definitions"\n'
    (acme / "pyproject.toml").write_text(text)

    result = beside()

    assert (acme / "pyproject.toml").read_text() == text
    assert 'write in place of module_name: modules = [{type = "module"' in by_hand(result)


def test_what_exists_stays(acme: Path) -> None:
    (acme / "tidegate.toml").write_text("mine")
    (acme / "dagster.yaml").write_text("mine")

    assert beside().exit_code == 0

    names = ("tidegate.toml", "dagster.yaml", ".gitignore", "jobs.py")
    texts: list[Any] = [(acme / name).read_text() for name in names]
    assert texts == ["mine", "mine", "/.tidegate/\n", "mine"]


def test_a_folder_that_does_not_exist_and_a_file_that_is_not_toml_are_refused(acme: Path) -> None:
    (acme / "pyproject.toml").write_text("[tool")

    assert isinstance(beside("nowhere").exception, UserError)
    assert "pyproject.toml cannot be read" in str(beside().exception)
    assert not (acme / "tidegate.toml").exists()
