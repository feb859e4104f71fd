"""E-NO-EDGE: people see which dependency has picked nothing, by which rule, of how many, and what to do."""

import re
from collections.abc import Generator

import pytest
from markupsafe import escape

from tests.tidegate.project import Project
from tests.tidegate.tasks import DAY, TaskProject
from tidegate.scheduler.model.run import RunStatus

pytestmark = pytest.mark.slow  # whole commands

TEXT = """\
app: shop
datasets:
  raw: {}
  totals: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  total: {run: programs.total, writes: [totals]}
  check: {run: programs.check}
tasks:
  hours: {type: source, dataset: raw, cycle: hour, at: {from: "08:00", to: "10:00"}, status: active}
  total:
    program: total
    cycle: day
    at: {time: "11:00"}
    depends_on: [{task: hours, select: exactly_one}]
    status: active
  check: {program: check, cycle: day, at: {time: "12:00"}, depends_on: [{task: total, period: previous}]}
"""
UP_TO = "the only one of the same day up to this one"
OF_TOTAL = f"E-NO-EDGE: no edge to shop/hours: {UP_TO}: 3 instances found, none picked"
OF_CHECK = "E-NO-EDGE: no edge to shop/total: the only one of the day before: 0 instances found, none picked"
SELECT = "another `select` or `period` in `depends_on` picks one"
CORRECT = "correct `depends_on`, or check that shop/total is deployed and has an instance there"


@pytest.fixture
def lone(project: Project) -> Generator[TaskProject, None, None]:
    """`total` asks for the only one of three hours, `check` for a day before the deployment."""
    found = TaskProject(project, TEXT)
    yield found
    found.store.close()


def words(text: str) -> str:
    """A text on one line, without the lines of a tree."""
    return " ".join(re.sub("[│├└─]", " ", text).split())


@pytest.mark.parametrize(
    ("task", "line", "what"), [("total", OF_TOTAL, SELECT), ("check", OF_CHECK, CORRECT)]
)
def test_what_is_not_run_says_it_and_how_to_stop_it(
    lone: TaskProject, task: str, line: str, what: str
) -> None:
    stop = f"{what}; `tidegate instances pause shop/{task} {DAY}` stops it"
    for command in (["why", task, DAY], ["instances", "show", task, DAY]):
        printed = words(lone.project.run(*command))
        assert line in printed, command
        assert stop in printed, command
    (why,), shown = (
        lone.project.json("why", task, DAY),
        lone.project.json("instances", "show", task, DAY),
    )
    assert why["diagnostics"] == shown["diagnostics"]
    assert [(each["code"], each["found"]) for each in shown["diagnostics"]] == [
        ("E-NO-EDGE", 3 if task == "total" else 0)
    ]


def test_what_has_run_says_it_and_that_a_rerun_looks_again(lone: TaskProject) -> None:
    lone.run_all("11:00", RunStatus.FAILED)
    again = f"{SELECT}; `tidegate instances rerun shop/total {DAY}` resolves it again"
    for command in (["why", "total", DAY], ["instances", "show", "total", DAY]):
        printed = words(lone.project.run(*command))
        assert OF_TOTAL in printed, command
        assert again in printed, command
    (line,) = (
        line
        for line in lone.project.run("instances", "list", "total", "--day", DAY).splitlines()
        if DAY in line
    )
    assert line.endswith("E-NO-EDGE")


def test_one_of_a_backfill_is_named_with_its_number(lone: TaskProject) -> None:
    lone.project.run("backfill", "start", "check", "--from", "2026-03-01", "--to", "2026-03-01", "--upstream")
    printed = words(lone.project.run("instances", "show", "check", "2026-03-02", "--backfill", "1"))
    assert OF_CHECK in printed
    assert "`tidegate instances pause shop/check 2026-03-02 --backfill 1` stops it" in printed


def test_the_day_names_each_that_runs_without_an_edge(lone: TaskProject) -> None:
    assert "E-NO-EDGE" not in lone.project.run("day", DAY), "what is Not Run looks its edges up again"
    lone.run_all("11:00")
    lone.run_all("12:00")
    assert lone.project.run("day", DAY).endswith(
        f"\n\nE-NO-EDGE: no edge to shop/hours: tidegate why shop/total {DAY}\n"
        f"E-NO-EDGE: no edge to shop/total: tidegate why shop/check {DAY}\n"
    )
    tasks = {each["task"]: each["instances"] for each in lone.project.json("day", DAY)["tasks"]}
    assert [each["rule"] for each in tasks["shop/check"][0]["diagnostics"]] == [
        "the only one of the day before"
    ]


def test_many_without_an_edge_are_counted(lone: TaskProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.cli.operate.instances.day.TROUBLES_SHOWN", 1)
    lone.run_all("12:00")
    assert lone.project.run("day", DAY).endswith("\nand 1 more without an edge\n")


def test_the_page_of_the_day_has_it_in_the_details(lone: TaskProject) -> None:
    lone.project.run("day", DAY, "--html", "day.html")
    text = (lone.project.folder / "day.html").read_text("utf-8")
    assert f"<li>{escape(f'{OF_TOTAL}; it does not wait for shop/hours: {SELECT}')}" in text
