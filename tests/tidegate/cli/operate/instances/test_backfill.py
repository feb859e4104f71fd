"""`tidegate backfill`: start, follow and cancel."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.tidegate.tasks import TaskProject
from tidegate.scheduler.commands.backfills import start
from tidegate.scheduler.commands.tasks import reports
from tidegate.scheduler.tick.tick import tick

pytestmark = pytest.mark.slow  # whole commands

PAGE = Path(__file__).parents[5] / "docs/cycles.md"

DATES = ("--from", "2026-03-01", "--to", "2026-03-03")


def test_a_backfill_is_started_and_followed(tasks: TaskProject) -> None:
    run = tasks.project.run
    assert run("backfill", "status").startswith("No backfills")
    printed = run("backfill", "start", "revenue", *DATES, "--lot", "2", "--upstream")
    assert "backfill 1 is started: 21 instances of 3 tasks" in printed
    assert "in lots of 2 dates" in printed
    printed = run("backfill", "status")
    assert "shop/revenue and 2 others" in printed
    printed = run("backfill", "status", "1")
    assert "backfill 1 of shop/revenue and 2 others: running, 0 of 21 done (0 %)" in printed
    assert printed.count("2026-03-0") >= 3
    assert "shop/clean" in run("backfill", "status", "1", "--by", "task")
    found = tasks.project.json("backfill", "status", "1", "--by", "task")
    assert (found["state"], found["total"]) == ("running", 21)
    assert {task: sum(counts.values()) for task, counts in found["by_task"].items()} == {
        "shop/clean": 9,
        "shop/feed": 9,
        "shop/revenue": 3,
    }
    assert len(tasks.project.json("instances", "list", "--backfill", "1")) == 21
    assert (
        len(tasks.project.json("instances", "list", "revenue", "--backfill", "1", "--day", "2026-03-02")) == 1
    )


def test_an_app_whole_and_some_of_its_tasks(tasks: TaskProject) -> None:
    started = tasks.project.json("backfill", "start", "--app", "shop", *DATES, "--only", "feed")
    assert (started["backfill"]["tasks"], started["total"]) == (["shop/feed"], 9)
    started = tasks.project.run("backfill", "start", "--app", "shop", *DATES)
    assert "`tidegate schedules resume shop/month_end`" in started


def test_what_is_marked_is_done_and_the_rest_is_cancelled(tasks: TaskProject) -> None:
    tasks.project.run("backfill", "start", "revenue", *DATES)
    tasks.project.run("instances", "mark", "revenue", "2026-03-02", "--backfill", "1")
    assert tasks.project.json("backfill", "status", "1")["by_date"]["2026-03-01"] == {"successful": 1}
    printed = tasks.project.run("backfill", "cancel", "1", "--reason", "wrong dates")
    assert printed == "backfill 1 is cancelled: 1 instances are done, 0 failed, 0 still run\n"
    (found,) = tasks.project.json("backfill", "status")
    assert (found["state"], found["total"]) == ("cancelled", 1)
    assert "nothing left to cancel" in tasks.project.refused("backfill", "cancel", "1").message


@pytest.mark.parametrize(
    "arguments",
    [
        ("revenue",),
        DATES,
        ("revenue", *DATES[:2]),
        ("revenue", *DATES, "--key", "2026-03-01"),
        ("revenue", *DATES, "--lot", "0"),
        ("revenue", *DATES, "--which", "some"),
    ],
)
def test_wrong_usage_ends_with_64(tasks: TaskProject, arguments: tuple[str, ...]) -> None:
    tasks.project.run("backfill", "start", *arguments, exit_code=64)


@pytest.mark.parametrize(
    ("first", "last", "code"),
    [
        ("2026-03-03", "2026-03-01", "E-RANGE"),
        ("2026-03-03", "2126-03-01", "E-RANGE"),
        ("March", "2026-03-01", "E-TIME"),
    ],
)
def test_dates_that_cannot_be_are_refused(tasks: TaskProject, first: str, last: str, code: str) -> None:
    refused = tasks.project.refused("backfill", "start", "revenue", "--from", first, "--to", last)
    assert code in refused.message


def test_an_unknown_number_is_refused(tasks: TaskProject) -> None:
    for verb in ("status", "cancel"):
        assert "E-TASK: there is no backfill 9" in tasks.project.refused("backfill", verb, "9").message


def test_a_finished_backfill_cannot_be_cancelled(tasks: TaskProject) -> None:
    tasks.project.run("backfill", "start", "feed", *DATES)
    for lot in range(3):
        tick(tasks.store, datetime.now(UTC) + timedelta(seconds=lot))
    assert "9 of 9 done (100 %)" in tasks.project.run("backfill", "status", "1")
    refused = tasks.project.refused("backfill", "cancel", "1")
    assert refused.message == "E-STATE: backfill 1 has nothing left to cancel"
    assert tasks.project.json("backfill", "status", "1")["state"] != "cancelled"


@pytest.mark.parametrize(("most", "refused"), [(9, False), (8, True)])
def test_a_backfill_has_as_many_instances_as_the_limit_allows(
    tasks: TaskProject, monkeypatch: pytest.MonkeyPatch, most: int, refused: bool
) -> None:
    monkeypatch.setattr(start, "INSTANCES_MAX", most)
    if not refused:
        assert tasks.project.json("backfill", "start", "feed", *DATES)["total"] == 9
        return
    error = tasks.project.refused("backfill", "start", "feed", *DATES)
    assert (error.message, error.hint) == ("E-RANGE: a backfill has at most 8 instances", "split the range")
    assert tasks.project.run("backfill", "status").startswith("No backfills")


@pytest.mark.parametrize(("last", "refused"), [("10:00", False), ("08:00", True)])
def test_a_report_has_as_many_instances_as_the_limit_allows(
    tasks: TaskProject, monkeypatch: pytest.MonkeyPatch, last: str, refused: bool
) -> None:
    monkeypatch.setattr(reports, "INSTANCES_MAX", 3)
    first = "2026-03-09-08:00" if refused else "2026-03-10-08:00"
    range_ = ("report", "feed", "--from", first, "--to", f"2026-03-10-{last}")
    if not refused:
        assert len(tasks.project.json(*range_)["instances"]) == 3
        return
    error = tasks.project.refused(*range_)
    assert (error.message, error.hint) == ("E-RANGE: a report has at most 3 instances", "split the range")


def test_the_page_names_the_limits() -> None:
    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"the range has more than {reports.INSTANCES_MAX:,} instances" in text
    assert f"it would have more than {start.INSTANCES_MAX:,} instances" in text


def test_a_repeated_request_starts_nothing_more(tasks: TaskProject) -> None:
    asked = ("backfill", "start", "revenue", *DATES, "--request", "fix-17")
    first = tasks.project.json(*asked)
    assert tasks.project.json(*asked) == first
    assert len(tasks.project.json("backfill", "status")) == 1
    refused = tasks.project.refused(*asked, "--lot", "2")
    assert refused.message == "the request fix-17 was another backfill of shop"
