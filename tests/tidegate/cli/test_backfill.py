"""`tidegate backfill`: start, follow and cancel."""

import pytest

from tests.tidegate.tasks import TaskProject

DATES = ("--from", "2026-03-01", "--to", "2026-03-03")


def test_a_backfill_is_started_and_followed(tasks: TaskProject) -> None:
    run = tasks.project.run
    assert run("backfill", "status").startswith("No backfills")
    printed = run("backfill", "start", "revenue", *DATES, "--lot", "2", "--upstream")
    assert "backfill 1 is started: 21 instances of 3 tasks" in printed
    assert "in lots of 2 dates" in printed
    printed = run("backfill", "status")
    assert "shop/revenue and 2 other tasks" in printed
    printed = run("backfill", "status", "1")
    assert "backfill 1 of shop/revenue and 2 other tasks: running, 0 of 21 done (0 %)" in printed
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
    [("revenue",), DATES, ("revenue", "--app", "shop", *DATES), ("revenue", *DATES, "--lot", "0")],
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
    assert "E-TASK" in tasks.project.refused("backfill", "status", "9").message
