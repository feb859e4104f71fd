"""The launch of a job that keeps counts: its plan is the same as from all events, of which none is read."""

import pytest

from tests.worlds.world import World
from tidegate.scheduler.decision.outcome import Decision
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.tick import held_events
from tidegate.scheduler.tick.held_events import HeldEvents

SCHEDULE = "s: {program: p, status: active, %s}"
DAYS = ("2026-03-05", "2026-03-02", "2026-03-03", "2026-03-02", "2026-03-04", "2026-03-06", "2026-03-07")
REPORTS = {
    "distinct partitions": "trigger: {partitions: {dataset: raw, count: 5}}",
    "writes": "trigger: {partitions: {dataset: raw, count: 5, distinct: false}}, output_partition: manifest",
    "a sum": "trigger: {size: {dataset: raw, rows: 50}}, args: {mode: full}",
    "named partitions": "trigger: {partitions: {dataset: raw, keys: [2026-03-02, 2026-03-06]}}",
    "two leaves of one dataset": (
        "trigger: {all: [{partitions: {dataset: raw, count: 5}}, {size: {dataset: raw, rows: 30}}]}"
    ),
    "two datasets, of which one is enough": (
        "trigger: {any: [{partitions: {dataset: raw, count: 5}}, {partitions: {dataset: other, count: 9}}]}"
    ),
}
READ = {
    "references": "trigger: {partitions: {dataset: raw, count: 5}}, args: {days: '{{ trigger.partitions }}'}",
    "a quiet time": "trigger: {partitions: {dataset: raw, count: 5}, quiet: 30s}",
    "one after the other": (
        "trigger: {sequence: [{partitions: {dataset: raw, count: 3}}, {partitions: {dataset: other}}]}"
    ),
    "a wait": "trigger: {partitions: {dataset: raw, count: 9}, wait_at_most: 5m}",
    "runs": "trigger: {all: [{partitions: {dataset: raw, count: 5}}, {run: {program: r, count: 3}}]}",
    "a fire": "trigger: {all: [{partitions: {dataset: raw, count: 5}}, {cron: '1 10 * * *'}]}",
}


def launched(
    monkeypatch: pytest.MonkeyPatch, schedule: str, *, counted_from: int, last: int = len(DAYS)
) -> tuple[Job, bool]:
    """The first job that is launched, and whether its plan was made from reports.

    Args:
        last: minute after which one tick takes in all that comes.
    """
    planned: dict[str, bool] = {}
    plan_view = HeldEvents.plan_view

    def noted(held: HeldEvents, view: JobView, decision: Decision) -> JobView:
        found = plan_view(held, view, decision)
        planned[view.job.id] = found.reports is not None
        return found

    world = World(SCHEDULE % schedule)
    with monkeypatch.context() as patch:
        patch.setattr(held_events, "COUNTED_FROM", counted_from)
        patch.setattr(HeldEvents, "plan_view", noted)
        for minute, day in enumerate(DAYS):
            world.arrive(f"10:{minute:02}", "raw", day, rows=10 + minute)
            world.arrive(f"10:{minute:02}", "other", day)
            world.run(f"10:{minute:02}", "r", "succeeded", f"r{minute}")
            if minute < last:
                world.tick(f"10:{minute:02}")
        world.tick("10:07")
    job = world.jobs("s")[0]
    return job, planned[job.id]


@pytest.mark.parametrize("schedule", REPORTS.values(), ids=REPORTS)
def test_reports_and_counts_plan_what_all_events_plan(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = launched(monkeypatch, schedule, counted_from=1_000)

    job, by_reports = launched(monkeypatch, schedule, counted_from=1)

    assert job.launch is not None and job == expected
    assert job.launch.fired and job.launch.sizes.keys() == job.launch.manifest.keys()
    assert by_reports


@pytest.mark.parametrize("schedule", READ.values(), ids=READ)
def test_a_plan_that_needs_more_is_made_from_all_events(
    schedule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _ = launched(monkeypatch, schedule, counted_from=1_000)

    job, by_reports = launched(monkeypatch, schedule, counted_from=1)

    assert job.launch is not None and job == expected
    assert not by_reports


def test_so_is_that_of_a_job_that_was_satisfied_before_in_the_same_tick(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schedule = "trigger: {partitions: {dataset: raw, count: 4}}, constraints: [delay: 90s]"
    expected, _ = launched(monkeypatch, schedule, counted_from=1_000, last=3)

    job, by_reports = launched(monkeypatch, schedule, counted_from=1, last=3)

    assert job.launch is not None and job.launch.fired and job == expected
    assert not by_reports
