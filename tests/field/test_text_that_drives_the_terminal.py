"""A reason with escape codes deleted lines of the terminal, and one with bidi overrides showed another word.

Texts of callers are printed without control characters and those of direction, by every command; a line end
in one, which forged a line of the command, is a space.
"""

import io
import json
import re
import unicodedata
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.tidegate.project import SALES, Project
from tidegate.cli.main import application, main
from tidegate.cli.terminal import cleaned_output, own_colours
from tidegate.project import imports

pytestmark = pytest.mark.slow  # whole commands

HOSTILE = "late\x1b[2Jfee\x1b]0;owned\x07d\x9b31m\u202eevil\u2066\u200f\u200b\x7f\x08\x1b[8mend"
READ = "evilend"
LINES = f"{HOSTILE}\nFORGED ok\r\n\x85\u2028FORGED"
FORGED = re.compile(r"^\W*FORGED", re.MULTILINE)


def in_yaml(text: str) -> str:
    return "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)


IN_YAML = in_yaml(LINES)
APP = SALES.replace("app: sales", f'app: sales\ndescription: "{IN_YAML}"').replace(
    "  report_daily:\n", f'  report_daily:\n    description: "{IN_YAML}"\n    args: {{name: "{IN_YAML}"}}\n'
)


def printed(*arguments: str) -> str:
    """All that a command prints; it has no character that drives a terminal."""
    output = CliRunner().invoke(application, list(arguments)).output
    wrong = {each for each in output if unicodedata.category(each) in ("Cc", "Cf") and each not in "\n\t"}
    assert not wrong, (arguments, wrong, output)
    assert not FORGED.search(output), (arguments, output)
    return output


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with hostile texts wherever callers write texts."""
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(imports, "check_imports", lambda compilation, project: compilation)
        project = Project(folder)
        project.write("sales", APP)
        project.run("deploy", "--yes", "--reason", LINES)
        project.run("schedules", "suspend", "report_daily", "--reason", LINES)
        project.run("schedules", "trigger", "report_at_six", "--reason", LINES)
        (job,) = project.json("jobs", "list", "--all")
        project.run("jobs", "cancel", str(job["id"]), "--reason", LINES)
        (folder / "JOB").write_text(str(job["id"]))
        (deployment,) = project.json("deployments", "log")
        (folder / "DEPLOYMENT").write_text(str(deployment["number"]))
        project.run("apps", "hold", "sales", "--reason", LINES)
    return folder


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        ("overrides list", True),
        ("overrides show report_daily", True),
        ("schedules list", False),
        ("schedules show report_daily", True),
        ("schedules show report_at_six", True),
        ("why report_daily", True),
        ("why JOB", True),
        ("jobs list --all", False),
        ("jobs show JOB", True),
        ("deployments log", True),
        ("deployments show DEPLOYMENT", True),
        ("apps list", False),
        ("plan", False),
        ("status", False),
        ("lint", False),
    ],
)
def test_no_command_prints_them(
    changed: Path, monkeypatch: pytest.MonkeyPatch, command: str, shows: bool
) -> None:
    monkeypatch.chdir(changed)
    monkeypatch.setattr(imports, "check_imports", lambda compilation, project: compilation)
    output = printed(*((changed / word).read_text() if word.isupper() else word for word in command.split()))
    assert not shows or READ in output.replace("\n", ""), output


@pytest.mark.parametrize(
    "arguments",
    [
        ("schedules", "show", LINES),
        ("schedules", "suspend", LINES, "--reason", LINES),
        ("jobs", "show", LINES),
        ("why", LINES),
        (LINES,),
        ("lint", f"--{LINES}"),
        ("lint", LINES),
        ("schedules", "update", "report_daily", "--set", f"timeout={LINES}"),
    ],
)
def test_neither_do_errors_with_arguments(
    changed: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(changed)
    monkeypatch.setattr("sys.argv", ["tidegate", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code != 0
    said = capsys.readouterr()
    assert said.err or said.out
    assert all(each.isprintable() or each == "\n" for each in said.err + said.out)
    assert not FORGED.search(said.err + said.out), said


@pytest.mark.parametrize(
    "text",
    [
        f'app: a\nowner: "{IN_YAML}"\n"{IN_YAML}": 1\n',
        f"app: a\n# {HOSTILE}\n",
        f'app: "{IN_YAML}"\n',
    ],
)
@pytest.mark.parametrize("format", ["text", "github"])
def test_neither_does_lint_of_a_hostile_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, format: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(text)
    assert "error" in printed("lint", "a.yaml", "--format", format)


def test_json_has_the_text_as_it_was_in_escapes(changed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(changed)
    output = printed("overrides", "list", "--format", "json")
    assert LINES in [each["reason"] for each in json.loads(output)]


class Terminal(io.StringIO):
    """A stream that has colours."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_keeps_our_colours_and_gets_none_of_callers() -> None:
    screen = Terminal()
    with redirect_stdout(screen), cleaned_output():
        print("\x1b[31mcaller\x1b[0m \x1b[2Jcaller")
        with own_colours():
            print("\x1b[31mours\x1b[0m\x1b[2J")
    assert screen.getvalue() == "caller [2Jcaller\n\x1b[31mours\x1b[0m[2J\n"
