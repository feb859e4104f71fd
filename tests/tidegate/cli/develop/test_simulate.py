"""`tidegate simulate` from the outside: the forms of file, what it prints, how it ends."""

import re
from pathlib import Path

import pytest

from tests.tidegate.project import SALES, Project, sales_as

pytestmark = pytest.mark.slow  # whole commands

ROOT = Path(__file__).resolve().parents[4]

DAY = """\
start: 2026-03-10T12:00:00+01:00
given:
  - {at: +0s, partitions: {dataset: orders, keys: [2026-03-08]}}
  - {at: +1h, partitions: {dataset: orders, keys: [2026-03-09]}}
  - {at: +2h, partitions: {dataset: orders, keys: [2026-03-10]}}
until: +3h
"""
EXPECTED = DAY + "expect: [{at: +1h, launch: report_daily, partitions: [2026-03-08, 2026-03-09]}]\n"
CSV = """\
at,dataset,key,rows
2026-03-10T12:00:00+01:00,orders,2026-03-08,900
2026-03-10T13:00:00+01:00,orders,2026-03-09,900
"""


def written(project: Project, name: str, text: str) -> str:
    (project.folder / name).write_text(text)
    return name


def test_the_timeline_and_what_became_of_each_schedule_are_printed(project: Project) -> None:
    printed = project.run("simulate", written(project, "day.yaml", DAY))
    assert printed.startswith("ok   sales: day  (day.yaml:1:1)\n  Tue 2026-03-10 Europe/Berlin\n")
    assert "13:00:00  launched       report_daily  [2026-03-08, 2026-03-09]" in printed
    assert printed.endswith(
        "\nsales at Tue 2026-03-10 15:00:00 Europe/Berlin\n"
        "  report_by_day: 0 launched\n"
        "    events: 3 D-SUSPENDED\n"
        "  report_daily: 1 launched (1 succeeded)\n"
        "    events: 2 consumed, 1 pending\n"
        "    waiting: W-TRIGGER, 1 collected\n"
        "  no jobs or events: report_at_six\n"
    )


def test_json_holds_the_timeline_and_the_summary(project: Project) -> None:
    found = project.json("simulate", written(project, "day.yaml", DAY))
    assert (found["app"], found["ok"], found["failures"]) == ("sales", True, [])
    assert [each["kind"] for each in found["timeline"]][:2] == ["given", "waiting"]
    daily = next(each for each in found["summary"] if each["schedule"] == "report_daily")
    assert (daily["launched"], daily["ended"], daily["running"]) == (1, {"succeeded": 1}, 0)
    assert [(each["reason"], each["collected"]) for each in daily["waiting"]] == [("W-TRIGGER", 1)]


def test_expectations_are_judged_if_there_are_any(project: Project) -> None:
    assert "ok   sales: day" in project.run("simulate", written(project, "day.yaml", EXPECTED))
    wrong = EXPECTED.replace("+1h, launch", "+2h, launch")
    printed = project.run("simulate", written(project, "day.yaml", wrong), exit_code=1)
    assert "FAIL sales: day" in printed
    assert "expected: 2026-03-10 14:00:00+01:00 launched report_daily" in printed
    assert "observed: 2026-03-10 13:00:00+01:00 launched report_daily" in printed


def test_every_schedule_may_begin_active(project: Project) -> None:
    printed = project.run("simulate", written(project, "day.yaml", DAY), "--all-active")
    assert "  report_by_day: 3 launched (3 succeeded)\n    events: 3 consumed\n" in printed


def test_a_table_of_partitions_that_came(project: Project) -> None:
    printed = project.run("simulate", written(project, "day.csv", CSV))
    assert "13:00:00  launched       report_daily  [2026-03-08, 2026-03-09]" in printed
    assert "sales at Wed 2026-03-11 13:00:00 Europe/Berlin" in printed
    assert "  report_at_six: 1 launched (1 succeeded)" in printed


def test_it_may_end_sooner(project: Project) -> None:
    printed = project.run("simulate", written(project, "day.csv", CSV), "--until", "+1h")
    assert "  report_daily: 1 launched (1 running)\n    events: 2 consumed\n" in printed


def test_one_action_a_line(project: Project) -> None:
    lines = '{"at": "2026-03-10T12:00:00+01:00", "trigger": "report_daily"}\n'
    printed = project.run("simulate", written(project, "hand.jsonl", lines), "--until", "+1h")
    assert "12:00:00  launched       report_daily" in printed


def test_another_app_than_the_projects(project: Project, tmp_path: Path) -> None:
    other = written(project, "other.yaml", sales_as("other"))
    printed = project.run("simulate", written(project, "day.yaml", DAY), "--app", other)
    assert "ok   other: day" in printed


def test_with_several_apps_the_file_says_which(project: Project) -> None:
    project.write("other", sales_as("other"))
    file = written(project, "day.yaml", DAY)
    assert "has 2 apps, and day.yaml does not name one" in project.refused("simulate", file).message
    printed = project.run("simulate", written(project, "day.yaml", f"app: other\n{DAY}"))
    assert "ok   other: day" in printed
    refused = project.refused("simulate", written(project, "day.yaml", f"app: othr\n{DAY}"))
    assert 'names app "othr"' in refused.message
    assert "other" in refused.hint


def test_what_is_not_deployed_must_be_named(project: Project) -> None:
    (project.folder / "tidegate.toml").write_text('[project]\nundeployed = ["schedules/drafts"]\n')
    (project.folder / "schedules/drafts").mkdir()
    project.write("drafts/next_sales", sales_as("next_sales"))
    assert "ok   sales: day" in project.run("simulate", written(project, "day.yaml", DAY))
    named = written(project, "day.yaml", f"app: next_sales\n{DAY}")
    assert "ok   next_sales: day" in project.run("simulate", named)


def test_events_of_a_failed_run_are_counted_under_its_reason(project: Project) -> None:
    day = f"programs: {{make_report: {{ends: failed}}}}\n{DAY}"
    assert "    events: 1 pending, 2 F-RUN\n" in project.run("simulate", written(project, "day.yaml", day))


def test_a_file_that_cannot_be_read_is_named(project: Project) -> None:
    refused = project.refused("simulate", "nothing.yaml")
    assert refused.message == "nothing.yaml cannot be read: No such file or directory"
    assert "tidegate docs scenarios" in refused.hint
    assert "Is a directory" in project.refused("simulate", "schedules").message


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("day.yaml", DAY.replace("orders", "ordres"), "N301"),
        ("day.yaml", "- 1\n", "R115"),
        ("day.csv", CSV.replace("rows", "lines"), "S106"),
        ("day.jsonl", "five\n", "S106"),
    ],
)
def test_a_wrong_file_is_told_and_not_played(project: Project, name: str, text: str, code: str) -> None:
    file = written(project, name, text)
    found = project.json("simulate", file, exit_code=1)
    assert found["diagnostics"][0]["code"] == code
    assert project.run("simulate", file, exit_code=1) == ""


def test_a_file_that_it_deploys_stands_beside_it(project: Project) -> None:
    deploys = DAY.replace("given:\n", "given:\n  - {at: +0s, deploy: {file: next.yaml}}\n")
    file = written(project, "day.yaml", deploys)
    assert "next.yaml, which cannot be read" in project.refused("simulate", file).message
    written(project, "next.yaml", SALES.replace("count: 2", "count: 3"))
    assert "launched       report_daily  [2026-03-08, 2026-03-09, 2026-03-10]" in project.run(
        "simulate", file
    )


def test_the_documentation_shows_what_is_printed(project: Project) -> None:
    text = (ROOT / "docs/scenarios.md").read_text()
    shown = text.partition("$ cat clicks.csv\n")[2].partition("```")[0]
    table, command, printed = re.split(r"^(\$ .*)\n", shown, flags=re.MULTILINE)
    written(project, "clicks.csv", table)
    story = command.split()[-1]
    assert project.run("simulate", "clicks.csv", "--app", str(ROOT / story)) == printed
