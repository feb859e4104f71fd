"""`tidegate import crontab`: what a line becomes, and what stays a comment."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from tests.tidegate.project import Project
from tidegate.cli.main import application
from tidegate.compiler.compile import compile_files
from tidegate.compiler.layout import format_file
from tidegate.domain.error import UserError, WrongUsage
from tidegate.domain.model import App, CronTrigger, Schedule
from tidegate.project.other_schedulers.crontab import PROGRAM, read_crontab
from tidegate.project.other_schedulers.translated import Translated

NIGHTLY = """\
# The loads of the night.
MAILTO=ops@example.com
CRON_TZ=Europe/Berlin
0 6 * * 1-5 /opt/etl/load_orders.sh --all >> /var/log/orders 2>&1

# Twice an hour,
# by day.
*/30 8-18 * * mon-fri cd /opt/app && LANG=C ./refresh.sh
@reboot /opt/boot.sh
@daily /opt/etl/load_orders.py
"""

NIGHTLY_YAML = """\
app: legacy
timezone: Europe/Berlin

programs:
  load_orders: {run: programs.load_orders}
  refresh: {run: programs.refresh}
  load_orders_2: {run: programs.load_orders_2}

schedules:
  # The loads of the night.
  # not translated: MAILTO=ops@example.com (a variable of the commands: set it in their programs)
  # 0 6 * * 1-5 /opt/etl/load_orders.sh --all >> /var/log/orders 2>&1
  load_orders:
    program: load_orders
    trigger: {cron: "0 6 * * 1-5"}
    status: active

  # Twice an hour,
  # by day.
  # */30 8-18 * * mon-fri cd /opt/app && LANG=C ./refresh.sh
  refresh:
    program: refresh
    trigger: {cron: "*/30 8-18 * * mon-fri"}
    status: active

  # not translated: @reboot /opt/boot.sh (no time: the start of a machine is nothing that a schedule knows)
  # @daily /opt/etl/load_orders.py
  load_orders_2:
    program: load_orders_2
    trigger: {cron: "@daily"}
    status: active

examples:
  - name: "load_orders starts on Thu 2026-01-01 at 06:00"
    start: "2026-01-01T05:59:30+01:00"
    expect: [{at: +30s, launch: load_orders}]
    expect_only: [load_orders]
  - name: "refresh starts on Thu 2026-01-01 at 08:00"
    start: "2026-01-01T07:59:30+01:00"
    expect: [{at: +30s, launch: refresh}]
    expect_only: [refresh]
  - name: "load_orders_2 starts on Fri 2026-01-02 at 00:00"
    start: "2026-01-01T23:59:30+01:00"
    expect: [{at: +30s, launch: load_orders_2}]
    expect_only: [load_orders_2]
"""

HOSTILE = (
    """echo "it's" 'a: b' # no comment, {{ x }} ${env.HOME} $${env.X} [1, *a] & | > !tag \\n \\""",
    "echo \u201cquoted\u201d \u200bhidden \u2028next \u202eright to left \x07 \x1b[31m \x85 \ufeff\U0001f600",
    "/opt/läuft.sh\targument\rnext: 1",
    "null",
    "no - yes",
    '"/opt/my folder/7 days.sh" --x',
    "'unbalanced",
    "[ -x /a ] && /a",
    "/opt/__init__.sh",
    f"/opt/{'long' * 100}.sh",
)


def translated(text: str | bytes) -> Translated:
    """Translate a crontab; the YAML is formatted, clean, and its scenarios are there."""
    found = read_crontab(text.encode() if isinstance(text, str) else text, "legacy")
    written = found.text()
    assert format_file("legacy.yaml", written.encode())[0] == written
    compiled = compile_files({"legacy.yaml": written.encode()})
    assert not [each for each in compiled.diagnostics if each.severity != "note"], compiled.diagnostics
    assert written.count("# not translated: ") == found.not_translated
    assert len(found.examples) == found.schedules
    return found


def app_of(found: Translated) -> App:
    return compile_files({"legacy.yaml": found.text().encode()}).models()["legacy"]


def trigger_of(schedule: Schedule) -> CronTrigger:
    assert isinstance(schedule.trigger, CronTrigger)
    return schedule.trigger


def invoke(*arguments: str, input: str | bytes | None = None) -> Result:
    return CliRunner().invoke(application, ["import", "crontab", *arguments], input=input)


def test_each_line_is_a_schedule_and_the_rest_is_comments_at_its_place() -> None:
    found = translated(NIGHTLY)

    assert found.text() == NIGHTLY_YAML
    assert (found.schedules, found.not_translated) == (3, 2)


def test_it_is_printed_from_a_file_and_from_what_comes_in(project: Project) -> None:
    (project.folder / "crontab").write_text(NIGHTLY)

    for result in (
        invoke("crontab", "--app", "legacy"),
        invoke("-", "--app", "legacy", input=NIGHTLY),
        invoke("--app", "legacy", input=NIGHTLY),
    ):
        assert (result.exit_code, result.stdout) == (0, NIGHTLY_YAML)
        assert result.stderr == "3 schedules, 2 not translated\n"
    assert not (project.folder / "programs").exists()


def test_what_is_written_is_checked_tested_and_imported(project: Project) -> None:
    (project.folder / "crontab").write_text(NIGHTLY)
    arguments = ("crontab", "--app", "legacy", "--out", "schedules/legacy.yaml")

    result = invoke(*arguments)

    assert (result.exit_code, result.stderr) == (0, "3 schedules, 2 not translated\n")
    assert result.stdout.split() == [
        "schedules/legacy.yaml",
        *(
            str(project.folder / f"programs/{name}.py")
            for name in ("load_orders", "refresh", "load_orders_2")
        ),
    ]
    assert (project.folder / "schedules/legacy.yaml").read_text() == NIGHTLY_YAML
    assert "ok: 1 app, 3 schedules" in project.run("lint", "--imports", "--strict", "schedules/legacy.yaml")
    assert "3 passed, 0 failed" in project.run("test", "--brief", "schedules/legacy.yaml")
    assert (invoke(*arguments).stdout, invoke(*arguments).exit_code) == ("", 0)


@pytest.mark.parametrize("taken", ["schedules/legacy.yaml", "programs/refresh.py"])
def test_nothing_that_differs_is_overwritten(project: Project, taken: str) -> None:
    (project.folder / "programs").mkdir()
    (project.folder / "crontab").write_text(NIGHTLY)
    (project.folder / taken).write_text("mine")
    before = sorted(project.folder.rglob("*"))

    result = invoke("crontab", "--app", "legacy", "--out", "schedules/legacy.yaml")

    assert isinstance(result.exception, UserError)
    assert taken in result.exception.message and "nothing was written" in result.exception.message
    assert result.exception.hint == "move it away, or write to another place"
    assert (sorted(project.folder.rglob("*")), (project.folder / taken).read_text()) == (before, "mine")


def test_without_a_project_the_programs_are_beside_the_yaml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert invoke("--app", "legacy", "--out", "new/legacy.yaml", input=NIGHTLY).exit_code == 0
    assert sorted(path.name for path in (tmp_path / "new/programs").iterdir()) == [
        "load_orders.py",
        "load_orders_2.py",
        "refresh.py",
    ]


def test_what_cannot_be_read_is_named(project: Project) -> None:
    (project.folder / "large").write_bytes(b"#" * (1024 * 1024 + 1))
    many = "* * * * * true\n" * 1_001

    assert isinstance(invoke("nowhere", "--app", "a").exception, UserError)
    assert "1,048,576 bytes" in str(invoke("large", "--app", "a").exception)
    assert isinstance(invoke("--app", "No", input="").exception, WrongUsage)
    assert "1,001 schedules" in str(invoke("--app", "a", input=many).exception)


@pytest.mark.parametrize("text", ["", "\n\n", "# only this\n", "\ufeff# marked", "SHELL=/bin/sh"])
def test_a_crontab_without_commands_is_an_app_without_schedules(text: str) -> None:
    assert app_of(translated(text)).schedules == {}


def test_line_ends_of_windows_are_line_ends() -> None:
    assert translated(NIGHTLY.replace("\n", "\r\n")).text() == NIGHTLY_YAML


def test_a_zone_counts_from_where_it_is() -> None:
    found = translated(
        "0 1 * * * /a\nCRON_TZ=America/New_York\n0 2 * * * /b\nCRON_TZ = 'Asia/Tokyo'\n0 3 * * * /c"
    )
    zones = [trigger_of(each).timezone for each in app_of(found).schedules.values()]
    assert zones == ["UTC", "America/New_York", "Asia/Tokyo"]
    assert "# Cron takes the zone of its machine" in found.text()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("MAILTO=a@b.c", "a variable of the commands"),
        ('"TZ" = "Europe/Berlin"', "a variable of the commands"),
        ("CRON_TZ=Mars/Base", "not a time zone"),
        ("CRON_TZ=", "not a time zone"),
        ("@reboot /a", "the start of a machine"),
        ("@never /a", "is not known"),
        ("0 6 * * * mail -s x%hello", "% ends the command"),
        ("0 6 * * * date +\\\\%F; echo \\%%", "% ends the command"),
        ("0 6 * * *", "no command"),
        ("0 6 * * ", "not five fields"),
        ("@daily", "no command"),
        ("hello", "not five fields"),
        ("60 6 * * * /a", "out of range"),
        ("0 6 31 2 * /a", "no such date"),
        ("0 6 * * 6-1 /a", "runs backwards"),
        ("0 6 L * * /a", '"L"'),
        ("0~30 6 * * * /a", "not understood"),
        ("5/15 6 * * * /a", "crons disagree on a step of a single number"),
        ("0 6 1,* * 1 /a", "crons disagree on * in a list"),
        ("0 6 * * * /a\0b", "NUL"),
    ],
)
def test_what_is_not_translated_is_a_comment_with_the_reason(line: str, reason: str) -> None:
    found = translated(f"0 5 * * * /first\n{line}\n0 7 * * * /last\n")

    lines = found.text().splitlines()
    (note,) = (each for each in lines if each.startswith("  # not translated: "))
    assert reason in note
    assert lines.index("  first:") < lines.index(note) < lines.index("  last:")
    assert list(found.programs) == ["first", "last"]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/opt/etl/load-orders.v2.sh --x", "load_orders_v2"),
        ("A=1 B='x y' /opt/Report.PY", "report"),
        ("cd /opt/app && ./run.sh", "run"),
        ("(cd /opt; ./run.sh) &", "run"),
        ("/usr/bin/python3 /opt/a.py", "python3"),
        ("/opt/7days.sh", "command_7days"),
        ("[ -x /a ] && /a", "command"),
        ("/opt/läuft.sh", "l_uft"),
    ],
)
def test_a_command_is_named_by_its_file(command: str, name: str) -> None:
    assert list(translated(f"0 6 * * * {command}").programs) == [name]


def test_repeated_names_are_numbered() -> None:
    found = translated("0 1 * * * /a\n0 2 * * * /a_2\n0 3 * * * /a.sh\n0 4 * * * /b/a.py")
    assert list(found.programs) == ["a", "a_2", "a_3", "a_4"]


@pytest.mark.parametrize("command", HOSTILE)
def test_hostile_commands_stay_text(command: str) -> None:
    found = translated(f"# {command}\n0 6 * * * {command}\nX={command}\n")

    (text,) = found.programs.values()
    names: dict[str, str] = {}
    exec(text.partition("COMMAND")[1] + text.partition("COMMAND")[2].partition("\n")[0], names)
    assert names["COMMAND"] == command
    assert list(app_of(found).schedules) == list(found.programs)
    assert yaml.safe_load(found.text())["schedules"].keys() == found.programs.keys()


def test_bytes_that_are_not_utf_8_are_the_same_bytes_in_the_command(tmp_path: Path) -> None:
    found = translated(b"0 6 * * * printf '\xe4\xff' > " + bytes(tmp_path / "out"))

    ended = run_program(tmp_path, next(iter(found.programs.values())))

    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "out").read_bytes() == b"\xe4\xff"


def test_a_program_runs_its_command_in_sh_and_fails_with_it(tmp_path: Path) -> None:
    wrong = run_program(tmp_path, PROGRAM.format(command=repr("echo said; cat; exit 3")))
    assert (wrong.returncode, wrong.stdout) == (1, "said\n")
    assert wrong.stderr.endswith("RuntimeError: the command ended with code 3\n")
    ended = run_program(tmp_path, PROGRAM.format(command=repr("exit 0")))
    assert (ended.returncode, ended.stdout) == (0, "returned {}\n")
    killed = run_program(tmp_path, PROGRAM.format(command=repr("kill -9 $$")))
    assert killed.stderr.endswith("RuntimeError: the command ended with code -9\n")


def run_program(folder: Path, text: str) -> "subprocess.CompletedProcess[str]":
    (folder / "program.py").write_text(f"{text}\n\nprint('returned', run(None, {{}}, None))\n")
    return subprocess.run(
        [sys.executable, str(folder / "program.py")], capture_output=True, text=True, check=False
    )


def test_a_percent_sign_with_a_backslash_is_one() -> None:
    (text,) = translated(r"0 6 * * * date +\%F \\ \x").programs.values()
    assert r"COMMAND = 'date +%F \\\\ \\x'" in text


def test_the_page_shows_what_is_printed() -> None:
    page = (Path(__file__).parents[4] / "docs/import.md").read_text()
    crontab, shown = (page.split(f"```{kind}\n")[1].split("```")[0] for kind in ("text", "yaml"))
    assert translated(crontab).text() == shown
