"""The command line's frame: what it loads, what it prints, and how it ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tidegate.cli import main as frame
from tidegate.cli.commands import COMMANDS, GROUPS
from tidegate.cli.main import application
from tidegate.domain.error import UserError
from tidegate.domain.size import SizeError
from tidegate.project.loading import SELDOM
from tidegate.project.settings.settings import SettingsError
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.error import StoreError
from tidegate.spark_jobs.errors import SparkJobError

ROOT = Path(__file__).parent.parent.parent
HEAVY = ("dagster", "pyspark", "sqlalchemy", "alembic", "pandas", "pyarrow")


def run(
    *arguments: str, program: str = "from tidegate.cli.main import main; main()"
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_loads(name: str) -> None:
    command = frame.load_command(name)
    assert command.name == name
    shown = CliRunner().invoke(frame.application, [name, "--help"])
    assert shown.exit_code == 0, shown.output
    assert f"tidegate {name}" in " ".join(shown.output.split()) or f" {name} " in shown.output


@pytest.mark.parametrize(("command", "stays"), [("lint", False), ("host", True)])
def test_a_command_that_ends_does_not_look_through_all_its_objects(command: str, stays: bool) -> None:
    program = (
        "import atexit, gc\n"
        f"atexit.register(lambda: print(gc.get_freeze_count() > 0, gc.get_threshold() == {SELDOM}))\n"
        "from tidegate.cli.version import main; main()"
    )
    assert run(command, "--help", program=program).stdout.endswith(f"\nTrue {stays}\n")


def test_help_lists_every_command_and_imports_none() -> None:
    program = (
        "import sys; from tidegate.cli.main import application\n"
        "try: application(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith(('tidegate.cli.', 'compiler', 'scheduler'))])"
    )
    shown = run(program=program)
    listing, _, loaded = shown.stdout.rstrip().rpartition("\n")
    assert all(f" {name} " in listing for name in COMMANDS)
    names = ("commands", "plain_values", "terminal", "main")
    assert loaded == str([f"tidegate.cli.{name}" for name in names])


def test_help_shows_each_command_in_its_group() -> None:
    shown: dict[str, list[str]] = {}
    for line in run("--help").stdout.splitlines():
        words = line.strip("│╭╮─ ").split()
        if line.startswith("╭"):
            group = " ".join(words)
        elif line.startswith("│ ") and line[2:3].strip():
            shown.setdefault(group, []).append(words[0])
    assert list(GROUPS) == ["develop", "deploy", "look", "operate", "data", "tables", "services"]
    assert {group: list(entries) for group, entries in GROUPS.items()} == {
        group: names for group, names in shown.items() if group != "Options"
    }
    assert sum(map(len, GROUPS.values())) == len(COMMANDS), "a command is in one group"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [((), "[env.NAME]"), (("deploy",), "[deploy]"), (("store", "prune"), "[retention]")],
)
def test_the_help_shows_what_is_in_brackets(arguments: tuple[str, ...], shown: str) -> None:
    assert shown in run(*arguments, "--help").stdout


@pytest.mark.parametrize("name", ["lint", "schema", "version"])
def test_light_commands_load_nothing_heavy(name: str) -> None:
    program = (
        "import sys; from tidegate.cli.main import load_command\n"
        f"load_command({name!r})\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    assert run(program=program).stdout == "[]\n"


def test_what_dagster_projects_import_loads_nothing_before_it_is_used() -> None:
    program = f"import sys, tidegate; print([m for m in {HEAVY!r} if m in sys.modules], *tidegate.__all__)"
    assert run(program=program).stdout.startswith("[] TidegateIOManager project_definitions")


@pytest.mark.parametrize("asked", ["version", "--version"])
def test_version_is_printed(asked: str) -> None:
    shown = run(asked)
    assert shown.returncode == 0
    assert shown.stdout.startswith("tidegate ")


BY_SCRIPT = "from tidegate.cli.version import main; main()"
"""As the command of the installed distribution begins."""


@pytest.mark.parametrize("asked", ["version", "--version"])
def test_the_version_needs_no_typer_and_is_the_same(asked: str) -> None:
    shown = run(asked, program=f"{BY_SCRIPT}; import sys; print('typer' in sys.modules)")
    assert shown.stdout == f"{run(asked).stdout}False\n"


def test_the_installed_command_has_all_commands() -> None:
    shown = run("lnit", program=BY_SCRIPT)
    assert (shown.returncode, shown.stderr) == (64, run("lnit").stderr)


def test_an_unknown_command_ends_with_64_and_a_suggestion() -> None:
    shown = run("lnit")
    assert shown.returncode == 64
    assert "Did you mean 'lint'" in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nope", "plan"],
        ["plan", "--nope"],
        ["lint", "--format", "xml"],
        ["events", "lst"],
        ["jobs", "show"],
        ["events", "list", "--limit", "0"],
    ],
)
def test_wrong_usage_ends_with_64_and_never_with_the_code_of_changes(arguments: list[str]) -> None:
    result = CliRunner().invoke(application, arguments)
    assert result.exit_code == 64, result.output
    assert "Error" in result.stderr


@pytest.mark.parametrize("kind", [UserError, Refused, StoreError, SparkJobError, SettingsError, SizeError])
def test_a_users_mistake_is_two_lines_and_exit_code_1(
    kind: type[UserError], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def mistaken() -> None:
        raise kind("no such schedule", "write another")

    stand_in = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    stand_in.command()(mistaken)
    monkeypatch.setattr(frame, "application", lambda prog_name: stand_in([]))
    with pytest.raises(SystemExit) as ended:
        frame.main()
    assert ended.value.code == 1
    said = capsys.readouterr()
    assert said.err == "error: no such schedule\nhint: write another\n"
    assert said.out == ""


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(prog_name: str) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(frame, "application", broken)
    with pytest.raises(ZeroDivisionError):
        frame.main()


def test_the_project_option_reaches_commands_and_their_child_processes(
    project_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_PROJECT", "/elsewhere")
    done = CliRunner().invoke(frame.application, ["--project", str(project_folder), "version"])
    assert done.exit_code == 0, done.output
    assert os.environ["TIDEGATE_PROJECT"] == str(project_folder)
