"""`tidegate why` of an instance: which upstream instance, by which rule, since when, and what helps."""

import pytest

from tests.tidegate.tasks import DAY, EIGHT, NINE, TEN, TaskProject, at
from tidegate.scheduler.model.run import RunStatus

pytestmark = pytest.mark.slow  # whole commands


def test_it_follows_the_chain_to_what_was_not_reported(tasks: TaskProject) -> None:
    printed = tasks.project.run("why", "revenue", DAY)
    assert f"shop/revenue[{DAY}] (active): W-" in printed
    assert f"unmet shop/clean {TEN} is not run since" in printed
    assert "the last one of the same day" in printed
    assert "this one would unblock it" in printed
    assert f"tidegate report shop/feed {TEN} --status successful" in printed
    assert f"by shop/clean {TEN}, the last one of the same day" in printed
    (found,) = tasks.project.json("why", "shop/revenue", DAY)
    assert [(root["kind"], root["task"], root["key"]) for root in found["roots"]] == [
        ("report", "shop/feed", TEN)
    ]


def test_a_failure_upstream_names_the_rerun(tasks: TaskProject) -> None:
    for clock, key in (("08:01", EIGHT), ("09:01", NINE), ("10:01", TEN)):
        tasks.reported(clock, key)
    tasks.run_all("10:10", RunStatus.FAILED)
    printed = tasks.project.run("why", "revenue", DAY)
    assert f"shop/clean {TEN}: failed: F-RUN" in printed
    assert f"tidegate instances rerun shop/clean {TEN}" in printed
    printed = tasks.project.run("why", "clean", TEN)
    assert "FAILED (F-RUN" in printed
    assert f"tidegate instances rerun shop/clean {TEN}" in printed


def test_a_past_moment_and_a_task_without_a_time(tasks: TaskProject) -> None:
    (then,) = tasks.project.json("why", "clean", EIGHT, "--at", at("08:05").isoformat())
    assert then["headline"] == "W-TIME: the start time of the instance has not come yet"
    (then,) = tasks.project.json("why", "clean", "--at", at("08:05").isoformat())
    assert then["job"]["key"] == EIGHT
    found = tasks.project.json("why", "clean")
    assert [each["job"]["key"] for each in found][:3] == [EIGHT, NINE, TEN]


def test_an_instance_of_a_backfill(tasks: TaskProject) -> None:
    tasks.project.run("backfill", "start", "revenue", "--from", "2026-03-01", "--to", "2026-03-02")
    printed = tasks.project.run("why", "revenue", "2026-03-03", "--backfill", "1")
    assert "lot 1 of backfill 1" in printed
    tasks.project.run("why", "revenue", "--backfill", "1", exit_code=64)
    assert "E-TIME" in tasks.project.refused("why", "revenue", "2026-03-09", "--backfill", "1").message
