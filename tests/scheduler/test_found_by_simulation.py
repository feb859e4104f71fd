"""What random histories have found, each in the few steps that it takes."""

import msgspec
import pytest

from tests.scheduler.world import World, app_of, at
from tidegate.domain.model import App
from tidegate.scheduler.commands.deploy import deploy
from tidegate.scheduler.launch.dead_letter import requeue

TWO_LEAVES = """
s: {program: p, trigger: {any: [{partitions: {dataset: raw}}, {partitions: {dataset: raw, count: 2}}]},
    batching: each, status: active}
"""
WITHOUT_GROUP = """
s: {program: p, trigger: {partitions: {dataset: raw}}, status: active}
"""
WITH_GROUP = """
s: {program: p, trigger: {partitions: {dataset: raw}}, status: active,
    constraints: [{concurrency: {max: 1, group: g}}]}
"""
OF_RAW = """
s: {program: p, trigger: {partitions: {dataset: raw}}, status: active}
"""
OF_CHUNKS = """
s: {program: p, trigger: {partitions: {dataset: chunks, complete: day}}, status: active}
"""


def test_an_event_at_two_leaves_belongs_to_one_job_even_if_the_first_leaf_fills_it() -> None:
    world = World(TWO_LEAVES)
    world.arrive("10:00", "raw", "2026-03-09")
    world.arrive("10:00", "raw", "2026-03-08")

    world.tick("10:00")

    assert len(world.jobs("s")) == 2
    assert [entry.job for entry in world.journal("s") if entry.kind == "job-opened"] == [
        job.id for job in world.jobs("s")
    ]


def test_a_run_that_is_seen_again_takes_no_slot_of_a_group_that_was_deployed_since() -> None:
    world = World(WITHOUT_GROUP)
    world.run("10:00", "p", "started", "hand")
    with_group: App = app_of(WITH_GROUP)
    with world.store.transaction() as transaction:
        deploy(transaction, {"a": with_group}, at("10:10"))

    world.run("10:00", "p", "started", "hand")

    with world.store.reading() as reader:
        assert reader.slots(["program:a/p", "group:g"]) == {"program:a/p": 1, "group:g": 0}


@pytest.mark.parametrize("without_raw", [False, True])
def test_a_dead_letter_is_queued_again_under_a_trigger_that_listens_to_something_else(
    without_raw: bool,
) -> None:
    world = World(OF_RAW)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    for minute in range(20):
        world.offer_launches(f"10:{minute:02}")
    assert world.outcome("s") == ("FAILED", "F-LAUNCH")
    changed = app_of(OF_CHUNKS)
    if without_raw:
        datasets = {name: each for name, each in changed.datasets.items() if name != "raw"}
        changed = msgspec.structs.replace(changed, datasets=datasets)

    with world.store.transaction() as transaction:
        deploy(transaction, {"a": changed}, at("10:30"))
        requeue(transaction, world.only("s").id, at("10:30"))

    assert world.tick("10:30").errors == ()
    job = world.only("s")
    assert job.state == "PENDING_LAUNCH"
    assert job.launch is not None and job.launch.manifest == {"raw": ("2026-03-09",)}
