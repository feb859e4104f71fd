"""`tidegate init`: a new project is clean, and nothing is overwritten."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from tidegate.cli.develop import agreement
from tidegate.cli.main import application
from tidegate.compiler.schema import schema_text
from tidegate.domain.error import UserError
from tidegate.project.create import APP_FILE, FILES, OF_PRODUCTION, create_project
from tidegate.project.environment import STARTER
from tidegate.project.settings.settings import load_settings

REFUSED = "tidegate.toml, .gitignore"


@pytest.fixture
def new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder that `init` has just made; it is the working folder."""
    monkeypatch.delenv("TIDEGATE_PROJECT", raising=False)
    monkeypatch.delenv("TIDEGATE_STORE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    assert run("init", "new").exit_code == 0
    monkeypatch.chdir(tmp_path / "new")
    return tmp_path / "new"


def run(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(application, list(arguments), input=input)


def test_the_yaml_has_no_mistakes_and_the_scenario_passes(new: Path) -> None:
    linted, tested = run("lint"), run("test")

    assert (linted.exit_code, linted.stderr) == (0, ""), linted.output
    assert tested.exit_code == 0
    assert "1 passed, 0 failed" in tested.output


def test_with_sql_the_program_is_a_query_and_all_else_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "shop", "--sql").exit_code == 0
    monkeypatch.chdir(tmp_path / "shop")

    linted, tested = run("lint"), run("test")

    assert (linted.exit_code, linted.stderr, tested.exit_code) == (0, "", 0)
    assert [file.name for file in (tmp_path / "shop" / "programs").iterdir()] == ["daily_sales.sql"]
    for other in ("--empty", "--beside"):
        assert run("init", "other", "--sql", other).exit_code != 0
    assert not (tmp_path / "shop" / "other").exists()


def test_the_plan_has_something_to_deploy(new: Path) -> None:
    assert run("plan").exit_code == 2


def test_the_editor_line_names_the_schema_that_is_written(new: Path) -> None:
    first = (new / "schedules/new.yaml").read_text().splitlines()[0]
    named = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)

    assert named is not None
    assert (new / APP_FILE).parent.joinpath(named[1]).read_text() == schema_text()
    assert json.loads(schema_text())["$schema"]


def test_workflow_and_hooks_are_yaml_that_calls_commands_that_exist(new: Path) -> None:
    workflow: Any = yaml.safe_load((new / ".github/workflows/tidegate.yml").read_text())
    hooks: Any = yaml.safe_load((new / ".pre-commit-config.yaml").read_text())

    steps = workflow["jobs"]["check"]["steps"]
    assert [step["name"] for step in steps if "run" in step] == ["install", "lint", "test", "plan"]
    entries = [hook["entry"] for repo in hooks["repos"] for hook in repo["hooks"]]
    assert entries == ["tidegate lint", "tidegate test"]


def test_it_names_the_commands_that_come_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    said = run("init", "my shop").output

    for command in ("cd 'my shop'", "tidegate lint", "tidegate test", "tidegate dev", "tidegate docs"):
        assert f"  {command}" in said


def test_a_folder_with_a_file_of_the_project_is_refused_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "tidegate.toml").write_text("mine")
    (tmp_path / ".gitignore").write_text("mine")
    before = sorted(tmp_path.rglob("*"))

    result = run("init", str(tmp_path))

    assert isinstance(result.exception, UserError)
    assert REFUSED in result.exception.message
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(UserError, match="cannot be written"):
        create_project(tmp_path / "file", "tidegate==1.0", iceberg=False)


def test_other_files_stay(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")

    create_project(tmp_path, "tidegate==1.0", iceberg=False)

    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("iceberg", "format"),
    [(True, "iceberg"), (False, "parquet")],
)
def test_the_table_is_iceberg_where_its_runtime_is_installed(
    tmp_path: Path, iceberg: bool, format: str
) -> None:
    create_project(tmp_path, "tidegate[any]==1.0", iceberg)

    assert f'\ndefault_format = "{format}"\n' in (tmp_path / "tidegate.toml").read_text()
    assert load_settings(tmp_path).default_format == format
    *comment, required = (tmp_path / "requirements.txt").read_text().splitlines()
    assert required == "tidegate[any]==1.0"
    assert ("Parquet" in "".join(comment)) == (not iceberg) and all(each[0] == "#" for each in comment)


def test_every_packaged_file_of_the_starter_is_used() -> None:
    packaged = {
        path.relative_to(STARTER).as_posix()
        for path in STARTER.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert packaged - {"__init__.py"} == {*FILES.values(), *OF_PRODUCTION}


@pytest.mark.parametrize("name", ["shop", 'a "quoted" \\ name', "überläden 🏪"])
def test_the_settings_name_the_project_after_its_folder(tmp_path: Path, name: str) -> None:
    create_project(tmp_path / name, "tidegate==1.0", iceberg=False)
    assert f"name = {json.dumps(name, ensure_ascii=False)}" in (tmp_path / name / "tidegate.toml").read_text()
    assert load_settings(tmp_path / name).name == name


@pytest.mark.parametrize(
    ("folder", "app"),
    [("shop", "shop"), ("My-Project 2", "my_project_2"), ("2026", "shop"), ("überläden", "berl_den")],
)
def test_the_app_is_named_after_the_folder(tmp_path: Path, folder: str, app: str) -> None:
    files = create_project(tmp_path / folder, "tidegate==1.0", iceberg=False)
    assert f"schedules/{app}.yaml" in files
    assert f"\napp: {app}\n" in (tmp_path / folder / f"schedules/{app}.yaml").read_text()
    assert run("--project", str(tmp_path / folder), "lint").exit_code == 0


def test_an_empty_project_has_settings_and_no_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = run("init", "mine", "--empty")
    assert said.exit_code == 0
    assert "tidegate docs recipes" in said.output
    assert load_settings(tmp_path / "mine").name == "mine"
    assert not list((tmp_path / "mine").rglob("shop.yaml")) + list((tmp_path / "mine").glob("landing"))
    assert (tmp_path / "mine/programs/__init__.py").is_file()


def test_a_folder_of_a_python_project_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\n")

    refused = run("init", ".")
    assert isinstance(refused.exception, UserError)
    assert "is a Python project (pyproject.toml); nothing was written" in refused.exception.message
    assert sorted(each.name for each in tmp_path.iterdir()) == ["pyproject.toml"]

    monkeypatch.setattr(agreement, "at_terminal", lambda: True)
    assert run("init", ".", input="n\n").exit_code == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["pyproject.toml"]
    assert run("init", ".", input="y\n").exit_code == 0
    assert (tmp_path / "tidegate.toml").is_file()
