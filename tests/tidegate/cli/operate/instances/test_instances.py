"""`tidegate instances`: what a day's instances are, and what people do to them."""

import pytest

from tests.tidegate.tasks import DAY, EIGHT, NINE, TEN, TaskProject
from tests.worlds.by import ME
from tidegate.domain.error import WrongUsage
from tidegate.scheduler.model.run import RunStatus

pytestmark = pytest.mark.slow  # whole commands


def listed(tasks: TaskProject, *arguments: str) -> list[tuple[str, str, str]]:
    found = tasks.project.json("instances", "list", *arguments)
    return [(each["task"].removeprefix("shop/"), each["scheduled"], each["status"]) for each in found]


def test_a_day_is_listed_by_scheduled_time(tasks: TaskProject) -> None:
    assert listed(tasks, "--day", DAY) == [
        ("month_end", DAY, "not_run"),
        ("revenue", DAY, "not_run"),
        *((task, key, "not_run") for key in (EIGHT, NINE, TEN) for task in ("clean", "feed")),
    ]
    printed = tasks.project.run("instances", "list", "clean", "--day", DAY)
    assert printed.count("shop/clean") == 3
    assert "W-TIME" in printed
    assert "2026-03-10-07:00" in printed, "the business hour"
    assert "The newest 2; --limit shows more." in tasks.project.run(
        "instances", "list", "--day", DAY, "--limit", "2"
    )


def test_statuses_narrow_it_on_any_day(tasks: TaskProject) -> None:
    tasks.reported("08:01", EIGHT)
    tasks.reported("09:01", NINE, status="failed")
    assert listed(tasks, "--status", "failed,successful", "--app", "shop") == [
        ("feed", EIGHT, "successful"),
        ("feed", NINE, "failed"),
    ]
    assert listed(tasks, "feed", "--day", DAY, "--status", "not-run") == [("feed", TEN, "not_run")]
    assert "F-REPORTED" in tasks.project.run("instances", "list", "--status", "failed")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("list", "--backfill", "0"), 64),
        (("show", "clean"), 64),
    ],
)
def test_wrong_usage_ends_with_64(tasks: TaskProject, arguments: tuple[str, ...], code: int) -> None:
    tasks.project.run("instances", *arguments, exit_code=code)


def test_what_does_not_exist_is_refused(tasks: TaskProject) -> None:
    refused = tasks.project.refused
    assert refused("instances", "list", "cleen").hint == 'did you mean "clean"?'
    status = refused("instances", "list", "--status", "failde")
    assert isinstance(status, WrongUsage) and "not_run, waiting" in status.hint
    assert refused("instances", "list", "--day", "10.3.").hint == 'write it as "2026-03-10"'
    assert "E-TASK" in refused("instances", "list", "--backfill", "7").message
    assert "E-TIME" in refused("instances", "show", "clean", f"{DAY}-11:00").message
    assert "E-TIME" in refused("instances", "show", "clean", "yesterday").message


def test_an_instance_is_shown_with_what_is_around_it(tasks: TaskProject) -> None:
    tasks.reported("08:01", EIGHT)
    tasks.run_all("08:10", RunStatus.FAILED)
    printed = tasks.project.run("instances", "show", "clean", EIGHT)
    assert "failed since 2026-03-10 08:10:00Z  F-RUN" in printed
    assert "the nearest one of the same day up to this one" in printed
    assert "orders: 2026-03-10-07:00" in printed
    found = tasks.project.json("instances", "show", "clean", EIGHT)
    assert (found["kind"], found["attempt"], found["business_date"]) == ("periodic", 1, f"{DAY}-07:00")
    assert [(each["task"], each["key"], each["status"]) for each in found["upstream"]] == [
        ("shop/feed", EIGHT, "successful")
    ]
    assert [row["status"] for row in found["attempts"]] == ["failed"]
    assert found["consumers"] == []
    last = tasks.project.json("instances", "show", "clean", TEN)
    assert [(each["task"], each["key"], each["rule"]) for each in last["consumers"]] == [
        ("shop/revenue", DAY, "the last one of the same day")
    ]
    feed = tasks.project.json("instances", "show", "feed", EIGHT)
    assert [(each["task"], each["key"]) for each in feed["consumers"]] == [("shop/clean", EIGHT)]


def test_an_empty_run_waits_for_no_upstream_and_lacks_no_edge(tasks: TaskProject) -> None:
    found = tasks.project.json("instances", "show", "month_end", DAY)
    assert found["empty"]
    assert (found["upstream"], found["diagnostics"]) == ([], [])
    assert "E-NO-EDGE" not in tasks.project.run("instances", "show", "month_end", DAY)


def test_mark_pause_and_resume_say_what_changed(tasks: TaskProject) -> None:
    run = tasks.project.run
    assert run("instances", "pause", "clean", EIGHT) == f"shop/clean {EIGHT} is paused\n"
    assert "E-STATE" in tasks.project.refused("instances", "rerun", "clean", EIGHT).message
    printed = run("instances", "resume", "clean", EIGHT)
    assert printed == f"shop/clean {EIGHT} is not run; the next tick gates it again\n"
    (marked,) = tasks.project.json("instances", "mark", "clean", EIGHT, "--reason", "landed by hand")
    assert (marked["status"], marked["marked"]) == ("successful", True)
    assert f"by={ME}, why=landed by hand" in run("instances", "show", "clean", EIGHT)


def test_a_rerun_names_each_consumer_that_runs_again(tasks: TaskProject) -> None:
    tasks.reported("08:01", EIGHT)
    tasks.run_all("08:10")
    printed = tasks.project.run("instances", "rerun", "feed", EIGHT)
    assert printed == f"shop/feed {EIGHT} is not run; the next tick gates it again\n"
    tasks.project.run("report", "feed", EIGHT)
    again = tasks.project.json("instances", "rerun", "feed", EIGHT, "--downstream")
    assert [(each["task"], each["status"], each["attempt"]) for each in again] == [
        ("shop/feed", "not_run", 0),
        ("shop/clean", "not_run", 2),
    ]


def test_of_a_suspended_task_it_says_who_lets_it_run(tasks: TaskProject) -> None:
    tasks.project.run("instances", "pause", "clean", EIGHT)
    tasks.project.run("schedules", "suspend", "clean")
    printed = tasks.project.run("instances", "resume", "clean", EIGHT)
    assert "`tidegate schedules resume shop/clean` lets it run" in printed
