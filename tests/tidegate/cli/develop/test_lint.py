"""`tidegate lint` and `tidegate schema` as the shell sees them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from tidegate.cli.develop.lint import lint
from tidegate.cli.develop.reference import schema

pytestmark = pytest.mark.slow  # whole commands

ROOT = Path(__file__).parents[4]
GOOD = "app: good\nprograms: {p: {run: j.p}}\nschedules: {s: {program: p, trigger: {cron: '@daily'}}}\n"
WARNING = GOOD.replace("'@daily'", "'@daily', catch_up: none, catch_up_at_most: 1d")
TASKS = """\
app: shop
datasets: {raw: {}}
programs: {clean: {run: j.clean, reads: [raw]}}
tasks:
  clean: {program: clean, cycle: hour}
  feed: {type: source, dataset: raw, cycle: hour}
"""
LAZY = ("dagster", "pyspark", "sqlalchemy", "pandas", "alembic")


def run(*arguments: str) -> tuple[int, str]:
    application = typer.Typer()
    application.command("lint")(lint)
    application.command("schema")(schema)
    result = CliRunner().invoke(application, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_good_file_is_ok(folder: Path) -> None:
    (folder / "a.yaml").write_text(GOOD)
    assert run("lint", "a.yaml") == (0, "ok: 1 app, 1 schedule\n")


def test_the_detected_upstream_tasks_are_printed(folder: Path) -> None:
    (folder / "a.yaml").write_text(TASKS)
    line = "shop/clean waits for feed (detected)"
    assert run("lint", "a.yaml") == (0, f"{line}\nok: 1 app, 0 schedules, 2 tasks\n")
    code, output = run("lint", "a.yaml", "--format", "json")
    (note,) = json.loads(output)
    assert (code, note["severity"], note["summary"], note["line"]) == (0, "note", line, 5)


def test_a_bad_file_hides_no_other(folder: Path) -> None:
    (folder / "a.yaml").write_text("app: [")
    (folder / "b.yml").write_text("app: b\ncolour: red\n")
    (folder / "c.yaml").write_text(GOOD)
    code, output = run("lint", ".")
    assert code == 1
    assert [line.split()[0] for line in output.splitlines() if ": error[" in line] == [
        "a.yaml:2:1:",
        "b.yml:2:1:",
    ]
    assert output.endswith("\n2 errors\n")


def test_warnings_fail_only_when_strict(folder: Path) -> None:
    (folder / "a.yaml").write_text(WARNING)
    code, output = run("lint", "a.yaml")
    assert code == 0
    assert "warning[V209]" in output
    assert run("lint", "a.yaml", "--strict")[0] == 1


def test_json_is_for_tools(folder: Path) -> None:
    (folder / "a.yaml").write_text("app: a\ncolour: red\n")
    code, output = run("lint", "a.yaml", "--format", "json")
    assert code == 1
    (diagnostic,) = json.loads(output)
    assert diagnostic["code"] == "S101"
    assert (diagnostic["file"], diagnostic["line"], diagnostic["column"]) == ("a.yaml", 2, 1)
    (folder / "a.yaml").write_text(GOOD)
    assert run("lint", "a.yaml", "--format", "json") == (0, "[]\n")


def test_what_cannot_be_read_is_a_diagnostic(folder: Path) -> None:
    (folder / "empty").mkdir()
    os.mkfifo(folder / "pipe.yaml")
    (folder / "dangling.yaml").symlink_to(folder / "nowhere")
    for name in ("missing.yaml", "empty", "pipe.yaml", "dangling.yaml"):
        code, output = run("lint", name)
        assert code == 1
        assert f"{name}:1:1: error[R116]" in output


def test_hidden_files_and_loops_of_links_are_passed_over(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "a.yaml").write_text(GOOD)
    (folder / "deep" / "loop").symlink_to(folder)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "bad.yaml").write_text("app: [")
    (folder / "notes.txt").write_text("app: [")
    assert run("lint", ".") == (0, "ok: 1 app, 1 schedule\n")


def test_a_file_named_twice_is_read_once(folder: Path) -> None:
    (folder / "a.yaml").write_text(GOOD)
    assert run("lint", "a.yaml", ".", str(folder / "a.yaml"))[0] == 0


def test_the_schema_is_printed() -> None:
    code, output = run("schema")
    assert code == 0
    assert json.loads(output)["required"] == ["app"]


def test_a_note_names_coming_dates_and_fails_nothing(folder: Path) -> None:
    (folder / "a.yaml").write_text(GOOD.replace("'@daily'", "'30 2 * * *', timezone: Europe/Berlin"))
    code, output = run("lint", "a.yaml", "--strict")
    assert code == 0
    assert "a.yaml:3:39: note[L420]: the clocks of Europe/Berlin change" in output
    assert output.endswith("ok: 1 app, 1 schedule, 1 note\n")


def test_the_example_of_the_project_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert run("lint", str(ROOT / "schedules"), "--strict")[0] == 0


def test_lint_loads_neither_dagster_nor_spark_nor_a_database() -> None:
    script = (
        "import sys; from tidegate.cli.develop.lint import lint; from pathlib import Path\n"
        # A dataset that is an asset of others is compared with the apps of the store.
        f"files = sorted(Path({str(ROOT / 'schedules')!r}).rglob('*.yaml'))\n"
        "lint([file for file in files if 'asset:' not in file.read_text()])\n"
        f"print(sorted(set({LAZY!r}) & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


BAD = GOOD.replace("program: p,", "program: gone,")


def test_sarif_has_the_rules_and_the_places(folder: Path) -> None:
    (folder / "bad, one.yaml").write_text(BAD)
    code, output = run("lint", ".", "--format", "sarif")
    log = json.loads(output)
    (one,) = log["runs"]
    (result,) = one["results"]
    rule = one["tool"]["driver"]["rules"][result["ruleIndex"]]
    place = result["locations"][0]["physicalLocation"]
    assert (code, log["version"], result["level"]) == (1, "2.1.0", "error")
    assert (rule["id"], rule["defaultConfiguration"]["level"]) == (result["ruleId"], "error")
    assert "gone" in result["message"]["text"]
    assert place["artifactLocation"]["uri"] == "bad%2C%20one.yaml"
    start = BAD.splitlines()[2].index("gone") + 1
    assert place["region"] == {"startLine": 3, "startColumn": start, "endColumn": start + 4}


def test_sarif_names_the_other_places(folder: Path) -> None:
    (folder / "a.yaml").write_text("app: a\napp: b\n")
    _, output = run("lint", ".", "--format", "sarif")
    results = json.loads(output)["runs"][0]["results"]
    (other,) = (each for result in results for each in result.get("relatedLocations", []))
    assert other["physicalLocation"]["region"] == {"startLine": 1, "startColumn": 1}
    assert other["message"]["text"]


def test_lines_for_github_are_escaped_commands(folder: Path) -> None:
    (folder / "bad, 100%.yaml").write_text(BAD)
    code, output = run("lint", ".", "--format", "github")
    (line,) = output.splitlines()
    start = BAD.splitlines()[2].index("gone") + 1
    assert code == 1
    assert line.startswith(
        f"::error file=bad%2C 100%25.yaml,line=3,col={start},endColumn={start + 4},title=N"
    )
    message = line.split("::", 2)[2]
    assert "gone" in message and "%0A" in message


def test_good_files_print_nothing_for_github_and_an_empty_log_for_sarif(folder: Path) -> None:
    (folder / "a.yaml").write_text(GOOD)
    assert run("lint", "a.yaml", "--format", "github") == (0, "")
    code, output = run("lint", "a.yaml", "--format", "sarif")
    assert (code, json.loads(output)["runs"][0]["results"]) == (0, [])
