"""`tidegate test` from the outside: what it prints, how it ends, what it loads."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidegate.project import SALES, Project

pytestmark = pytest.mark.slow  # whole commands

ROOT = Path(__file__).resolve().parents[4]

EXAMPLES = """
examples:
  - name: two days of orders make a report
    start: 2026-03-10T12:00:00+01:00
    given:
      - {at: +0s, partitions: {dataset: orders, keys: [2026-03-08]}}
      - {at: +1h, partitions: {dataset: orders, keys: [2026-03-09]}}
    until: +2h
    expect:
      - {at: +0s, waiting: report_daily, reason: W-TRIGGER, collected: 1}
      - {at: +1h, launch: report_daily, partitions: [2026-03-08, 2026-03-09]}
  - name: the report at six
    start: 2026-03-10T12:00:00+01:00
    until: +1d
    expect: [{launch: report_at_six, partitions: [2026-03-10]}]
"""

WRONG = EXAMPLES.replace("partitions: [2026-03-10]", "partitions: [2026-03-11]")


def with_examples(project: Project, examples: str) -> Project:
    """The project, its app followed by some examples."""
    project.write("sales", SALES + examples)
    return project


def test_every_scenario_is_printed_with_its_timeline(project: Project) -> None:
    printed = with_examples(project, EXAMPLES).run("test")
    assert "ok   sales: two days of orders make a report  (schedules/sales.yaml:" in printed
    assert "Tue 2026-03-10 Europe/Berlin" in printed
    assert "13:00:00  launched       report_daily  [2026-03-08, 2026-03-09]" in printed
    assert printed.endswith("2 scenarios: 2 passed, 0 failed\n")


def test_a_failure_names_its_place_and_both_sides(project: Project) -> None:
    printed = with_examples(project, WRONG).run("test", exit_code=1)
    assert "FAIL sales: the report at six" in printed
    line = (SALES + WRONG).splitlines().index(
        "    expect: [{launch: report_at_six, partitions: [2026-03-11]}]"
    ) + 1
    assert f"  schedules/sales.yaml:{line}:14:\n" in printed
    assert "expected: at any time launched report_at_six partitions [2026-03-11]" in printed
    observed = "launched report_at_six[2026-03-10] partitions [2026-03-10]"
    assert f"observed: 2026-03-11 06:00:00+01:00 {observed}" in printed
    assert printed.endswith("2 scenarios: 1 passed, 1 failed\n")


def test_one_scenario_by_its_name(project: Project) -> None:
    printed = with_examples(project, WRONG).run("test", "--scenario", "Two days")
    assert printed.endswith("1 scenario: 1 passed, 0 failed\n")


def test_brief_shows_the_timelines_of_those_that_fail(project: Project) -> None:
    printed = with_examples(project, WRONG).run("test", "--brief", exit_code=1)
    first, second, *rest = printed.splitlines()
    assert first.startswith("ok   sales: two days of orders make a report")
    assert second.startswith("FAIL sales: the report at six")
    assert any("launched       report_at_six" in line for line in rest)


def test_a_name_that_no_scenario_has_is_refused(project: Project) -> None:
    error = with_examples(project, EXAMPLES).refused("test", "--scenario", "the report at seven")
    assert error.message == '"the report at seven" is not in the name of any scenario'
    assert "the report at six" in error.hint


def test_json_holds_timeline_and_failures(project: Project) -> None:
    found = with_examples(project, WRONG).json("test", exit_code=1)
    assert [each["ok"] for each in found["scenarios"]] == [True, False]
    assert found["failed"] == 1
    assert found["scenarios"][0]["timeline"][-1]["kind"] == "ended"
    assert found["scenarios"][1]["failures"][0]["expected"].startswith("at any time launched report_at_six")


def test_a_file_with_mistakes_is_not_played(project: Project) -> None:
    wrong = EXAMPLES.replace("launch: report_daily", "launch: report_dayly")
    assert with_examples(project, wrong).run("test", exit_code=1) == ""
    found = project.json("test", exit_code=1)
    assert [each["code"] for each in found["diagnostics"]] == ["N305"]


def test_an_app_without_examples(project: Project) -> None:
    assert project.run("test").endswith("0 scenarios: 0 passed, 0 failed\n")


def test_a_deployed_file_is_read_beside_the_app(project: Project) -> None:
    deploys = """
examples:
  - name: deploys another text
    start: 2026-03-10T12:00:00+01:00
    given: [{at: +1h, deploy: {file: next/sales.txt}}]
    until: +2h
    expect: [{at: +2h, none: report_daily}]
"""
    with_examples(project, deploys)
    assert "next/sales.txt" in project.refused("test").message
    (project.folder / "schedules" / "next").mkdir()
    (project.folder / "schedules" / "next" / "sales.txt").write_text(SALES)
    project.run("test")


@pytest.mark.slow
def test_it_loads_neither_dagster_nor_spark_nor_sqlalchemy() -> None:
    code = (
        "import sys; from tidegate.cli.main import main\n"
        "sys.argv = ['tidegate', 'test', 'schedules/flights.yaml']\n"
        "try: main()\nexcept SystemExit as end: assert not end.code, end.code\n"
        "roots = {module.partition('.')[0] for module in sys.modules}\n"
        "print(sorted(roots & {'dagster', 'pyspark', 'sqlalchemy', 'rich'}))"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"
