"""Examples of apps with tasks: what actions and expectations about instances become."""

from typing import Any

import pytest

from tests.compiler.scenarios.example import START, ExampleOf
from tidegate.compiler.scenarios.model.scenario import (
    Action,
    Behaviour,
    Delete,
    ExpectDiscarded,
    Expected,
    ExpectLaunch,
    ExpectNone,
    ExpectRefused,
    ExpectWaiting,
    Resume,
    Suspend,
    Update,
)
from tidegate.compiler.scenarios.model.tasks import (
    ActOnInstance,
    CancelBackfill,
    ExpectInstance,
    ExpectInstances,
    ReportInstances,
    StartBackfill,
)

APP: dict[str, Any] = {
    "app": "a",
    "datasets": {"raw": {}, "out": {}},
    "programs": {"p": {"run": "j.p", "reads": ["raw"], "writes": ["out"]}},
    "tasks": {
        "feed": {"type": "source", "dataset": "raw", "cycle": "hour", "update": "outside"},
        "day": {"program": "p", "cycle": "day"},
    },
}
EXAMPLE = ExampleOf(APP)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "instance: {task: day, scheduled: 2026-03-10, do: rerun_downstream}",
            ActOnInstance(task="day", scheduled="2026-03-10", do="rerun_downstream"),
        ),
        (
            "instance: {task: a/day, business_date: 2026-03-09, number: 2, do: pause}",
            ActOnInstance(task="day", business_date="2026-03-09", number=2, do="pause"),
        ),
        (
            "instance: {task: No Task, scheduled: 2026, do: rerun}",
            ActOnInstance(task="No Task", scheduled="2026", do="rerun"),
        ),
        (
            "report: {task: feed, scheduled: [2026-03-10-10:00, 2026-03-10], status: failed, request: 7}",
            ReportInstances(
                task="feed",
                scheduled=("2026-03-10-10:00", "2026-03-10"),
                status="failed",
                request="7",
            ),
        ),
        (
            "report: {task: feed, scheduled: 2026-03-10-10:00}",
            ReportInstances(task="feed", scheduled=("2026-03-10-10:00",)),
        ),
        (
            "report: {task: feed, from: 2026-03-10-10:00, to: not a time}",
            ReportInstances(task="feed", from_="2026-03-10-10:00", to="not a time"),
        ),
        (
            "backfill: {task: day, from: 2026-03-01, to: 2026-03-03, lot: 2, upstream: true, only: [day]}",
            StartBackfill(
                task="day", from_="2026-03-01", to="2026-03-03", lot=2, upstream=True, only=("day",)
            ),
        ),
        ("backfill: {app: a, from: 2026-03-01, to: 2}", StartBackfill(from_="2026-03-01", to="2")),
        ("cancel_backfill: {task: day, number: 2}", CancelBackfill(task="day", number=2)),
        ("cancel_backfill: {app: a}", CancelBackfill()),
        ("suspend: day", Suspend(schedule="day")),
        ("resume: feed", Resume(schedule="feed")),
        ("delete: day", Delete(schedule="day")),
        ("update: {day: {enabled: false}}", Update(changes={"day": {"enabled": False}})),
    ],
)
def test_an_action(text: str, found: Action) -> None:
    assert EXAMPLE.action(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "instance: day, scheduled: 2026-03-10, status: not_run, reason: W-UPSTREAM, attempt: 0",
            ExpectInstance(
                task="day",
                when=START,
                scheduled="2026-03-10",
                status="not_run",
                reason="W-UPSTREAM",
                attempt=0,
            ),
        ),
        (
            "instance: day, business_date: 2026-03-09, number: 2, empty: true, marked: false",
            ExpectInstance(
                task="day", when=START, business_date="2026-03-09", number=2, empty=True, marked=False
            ),
        ),
        (
            "instance: day, scheduled: 2026-03-10, upstream: {feed: [2026-03-10-10:00], fx/rates: []},"
            " diagnostic: E-NO-EDGE",
            ExpectInstance(
                task="day",
                when=START,
                scheduled="2026-03-10",
                upstream={"feed": ("2026-03-10-10:00",), "fx/rates": ()},
                diagnostic="E-NO-EDGE",
            ),
        ),
        (
            "instances: feed, day: 2026-03-10, count: 24, empty: 0",
            ExpectInstances(task="feed", when=START, day="2026-03-10", count=24, empty=0),
        ),
        (
            "launch: day, scheduled: 2026-03-10, business_date: 2026-03-09, number: 1, partitions: [a]",
            ExpectLaunch(
                schedule="day",
                when=START,
                scheduled="2026-03-10",
                business_date="2026-03-09",
                number=1,
                partitions=("a",),
            ),
        ),
        ("waiting: day, reason: W-HELD", ExpectWaiting(schedule="day", when=START, reason="W-HELD")),
        (
            "discarded: day, reason: D-TIMEOUT",
            ExpectDiscarded(schedule="day", when=START, reason="D-TIMEOUT"),
        ),
        ("none: feed", ExpectNone(schedule="feed", when=START)),
        ("refused: E-STATE", ExpectRefused(code="E-STATE", when=START)),
        ("refused: E-DISABLED", ExpectRefused(code="E-DISABLED", when=START)),
    ],
)
def test_an_expectation(text: str, found: Expected) -> None:
    assert EXAMPLE.expected(text) == found


def test_a_program_behaves_for_one_scheduled_time() -> None:
    found = EXAMPLE.scenario(
        "    programs: {p: {takes: 5m}, p@2026-03-10-10:00: {ends: failed}}\n"
    ).behaviours
    assert found["p@2026-03-10-10:00"] == Behaviour(ends=("failed",))
    assert found["p"].ends == ("succeeded",)


def test_only_some_tasks_must_be_expected() -> None:
    assert EXAMPLE.scenario("    expect_only: [day]\n").expect_only == ("day",)


def test_a_deployment_may_bring_tasks() -> None:
    text = "{app: 'app: a\n\n\ntasks: {new: {type: external, cycle: day}}'}"
    found = EXAMPLE.scenario(
        f"    given:\n      - {{at: +0s, deploy: {text}}}\n"
        "    expect:\n      - {at: +0s, instances: new, day: 2026-03-10}\n"
    )
    assert found.expect[0].expected == ExpectInstances(task="new", when=START, day="2026-03-10")


@pytest.mark.parametrize(
    "text",
    [
        "instance: {task: day, scheduled: 2026-03-10}",
        "report: {task: feed, status: running}",
        "backfill: {from: 2026-03-01, to: 2026-03-02}",
        "backfill: {app: b, from: 2026-03-01, to: 2026-03-02}",
        "cancel_backfill: {}",
        "cancel_backfill: {app: b}",
        "suspend: missing",
    ],
)
def test_a_wrong_action(text: str) -> None:
    assert not EXAMPLE.compiled(f"    given:\n      - {{at: +0s, {text}}}\n").ok


@pytest.mark.parametrize(
    "text",
    [
        "instance: missing, scheduled: 2026-03-10",
        "instance: day",
        "instance: day, scheduled: 2026-03-10, upstream: {missing: [2026-03-10]}",
        "instance: day, scheduled: 2026-03-10, empty: 1",
        "instance: day, scheduled: 2026-03-10, count: 1",
        "instances: day",
        "instances: day, day: 2026-03-10, empty: true",
        "launch: day, status: running",
        "none: day, number: 1",
        "refused: E-ELSE",
    ],
)
def test_a_wrong_expectation(text: str) -> None:
    assert not EXAMPLE.compiled(f"    expect:\n      - {{at: +0s, {text}}}\n").ok
