"""`why` of a job that keeps counts: what it says is what the events say, and it reads none of them."""

import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.explain.explanation import Explanation
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.tick import held_events

SCHEDULE = "s: {program: q, status: active, %s}"
COUNTED = {
    "distinct partitions": (
        "trigger: {partitions: {dataset: raw, count: 9}}",
        "4 of 9 new partitions of raw",
    ),
    "writes": (
        "trigger: {partitions: {dataset: raw, count: 9, distinct: false}}",
        "5 of 9 writes of partitions of raw",
    ),
    "named partitions": (
        "trigger: {partitions: {dataset: raw, keys: [2026-03-02, 2026-03-09]}}",
        "1 of 2 partitions of raw named in keys; missing 2026-03-09",
    ),
    "a complete week": (
        "trigger: {partitions: {dataset: raw, complete: week}}",
        "4 of 7 parts of raw of week 2026-03-01; missing 2026-03-01, 2026-03-06, 2026-03-07",
    ),
    "a sum": ("trigger: {size: {dataset: other, rows: 90}}", "60 rows of 90 rows of other"),
    "runs": ("trigger: {run: {program: r, count: 9}}", "4 of 9 runs of r succeeded"),
    "a quiet time": (
        "trigger: {partitions: {dataset: raw, count: 9}, quiet: 2m}",
        "4 of 9 new partitions of raw",
    ),
    "in turn": (
        "trigger: {sequence: [{partitions: {dataset: raw, count: 9}}, {partitions: {dataset: other}}]}",
        "0 of 2 members held one after the other",
    ),
    "a wait": (
        "trigger: {all: [{partitions: {dataset: raw, count: 9}}, {cron: '0 12 * * *'}], wait_at_most: 5h}",
        "0 of 2 members hold",
    ),
}
READ = {
    "a sum of what was written again": "trigger: {size: {dataset: raw, rows: 90}}",
    "two months": "trigger: {partitions: {dataset: raw, complete: month}}",
    "what stops counting": "trigger: {partitions: {dataset: raw, count: 9}, collect_within: 3h}",
    "a member that has enough": (
        "trigger: {all: [{partitions: {dataset: raw, count: 2}}, {partitions: {dataset: young}}]}"
    ),
}
DAYS = ("2026-03-02", "2026-03-03", "2026-03-02", "2026-03-04", "2026-03-05")


def why(
    trigger: str, monkeypatch: pytest.MonkeyPatch, *, counted: bool, days: tuple[str, ...] = DAYS
) -> tuple[Explanation, list[str]]:
    """What is said of a job with some events, whether it keeps counts or none, and whose events are read."""
    monkeypatch.setattr(held_events, "COUNTED_FROM", 1 if counted else 1_000)
    world = World(SCHEDULE % trigger)
    for minute, day in enumerate(days):
        world.arrive(f"10:{minute:02}", "raw", day, rows=10)
        world.arrive(f"10:{minute:02}", "other", f"2026-02-1{minute}", rows=10 + minute)
        if minute < 4:
            world.run(f"10:{minute:02}", "r", "succeeded", f"r{minute}")
        world.tick(f"10:{minute:02}")
    job = world.only("s").id
    with world.store.reading() as reader:
        assert len(reader.tallies([job])) == counted
        deliveries, read = reader.deliveries, list[str]()
        monkeypatch.setattr(reader, "deliveries", lambda jobs: read.extend(jobs) or deliveries(jobs))
        (found,) = explain(reader, "a/s", at("10:30"))
    return found, read


@pytest.mark.parametrize(("trigger", "summary"), COUNTED.values(), ids=COUNTED)
def test_counts_say_what_the_events_say(trigger: str, summary: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = why(trigger, monkeypatch, counted=False)

    found, read = why(trigger, monkeypatch, counted=True)

    assert (found, read) == (expected, [])
    assert found.trigger is not None and found.trigger.summary == summary


@pytest.mark.parametrize("trigger", READ.values(), ids=READ)
def test_where_counts_do_not_say_all_the_events_are_read(
    trigger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = (*DAYS, "2026-02-01")
    expected, _ = why(trigger, monkeypatch, counted=False, days=days)

    found, read = why(trigger, monkeypatch, counted=True, days=days)

    assert found == expected
    assert found.job is not None and read == [found.job.id]
