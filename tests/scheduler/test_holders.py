"""Holders: which active runs keep a job waiting, or run it."""

import msgspec

from tests.worlds.world import World, at
from tidegate.scheduler.explain.holders import holders
from tidegate.scheduler.explain.why import explain

WAITS = """
s: {program: q, status: active, trigger: {partitions: {dataset: raw}}, constraints: [{concurrency: {max: 1}}]}
t: {program: q, status: active, trigger: {partitions: {dataset: other}},
    constraints: [{concurrency: {max: 1}}]}
g: {program: r, status: active, trigger: {partitions: {dataset: hourly}},
    constraints: [{concurrency: {max: 1, group: night}}]}
l: {program: p, status: active, trigger: {partitions: {dataset: young}},
    constraints: [{load: {max_active_runs: 1}}]}
"""


def held(world: World, target: str, clock: str) -> list[tuple[str | None, str]]:
    """The resource and the run of every holder."""
    with world.store.reading() as reader:
        (explanation,) = explain(reader, target, at(clock))
        return [(resource, run.run_id) for resource, run in holders(reader, explanation)]


def test_the_run_of_a_job_holds_the_slot_that_another_job_waits_for():
    world = World(WAITS)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (job,) = world.launch_all("10:00")
    world.arrive("10:01", "other", "2026-03-09")
    world.tick("10:01")
    assert held(world, "a/t", "10:01") == [("program:a/q", f"run-{job}")]
    assert held(world, job, "10:01") == [(None, f"run-{job}")]


def test_a_run_by_hand_holds_slots_of_its_program_its_groups_and_all_runs():
    world = World(WAITS)
    world.run("10:00", "r", "started", "by-hand")
    world.arrive("10:01", "hourly", "2026-03-09-05:00")
    world.arrive("10:01", "young", "2026-03-09")
    world.tick("10:01")
    assert held(world, "a/g", "10:01") == [("group:night", "by-hand")]
    assert held(world, "a/l", "10:01") == [("runs", "by-hand")]
    assert held(world, "a/s", "10:01") == [], "it needs nothing but events"


def test_a_run_of_an_app_that_is_not_deployed_counts_among_all_runs():
    world = World(WAITS)
    world.run("10:00", "r", "started", "by-hand")
    world.arrive("10:01", "young", "2026-03-09")
    world.tick("10:01")
    with world.store.transaction() as transaction:
        (run,) = transaction.runs(ids=["by-hand"])
        transaction.put_runs([msgspec.structs.replace(run, program="gone/r")])
    assert held(world, "a/l", "10:01") == [("runs", "by-hand")]
