"""The metrics of a store in memory: what is late, what the ledger counts, and a scheduler without a tick."""

from collections.abc import Collection

from tests.scheduler.explain.deadline import LATE
from tests.worlds.world import World, at
from tidegate.scheduler.explain.metrics import Metric, metrics
from tidegate.scheduler.tick.deadlines import sweep_deadlines


def measured(world: World, clock: str, apps: Collection[str] | None = None) -> dict[str, dict[tuple, float]]:
    """The numbers of each metric, by the values of its labels."""
    found: dict[str, dict[tuple, float]] = {}
    with world.store.reading() as reader:
        for metric, sample in metrics(reader, "", at(clock), 30, apps):
            assert isinstance(metric, Metric)
            found.setdefault(metric.name, {})[sample.values] = sample.number
    return found


def test_a_late_job_counts_as_late_now_and_in_all_until_it_ends():
    world = World(LATE)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    sweep_deadlines(world.store, at("11:01"))

    for apps in (None, {"a"}):
        found = measured(world, "11:02", apps)
        assert found["tidegate_late_total"] == {("a", "schedule", "s"): 1}
        assert found["tidegate_late_now"] == {("a", "schedule", "s"): 1}
    of_others = measured(world, "11:02", {"b"})
    assert "tidegate_late_total" not in of_others
    assert "tidegate_late_now" not in of_others

    world.cancel("11:03", world.only("s").id)
    found = measured(world, "11:04")
    assert found["tidegate_late_total"] == {("a", "schedule", "s"): 1}
    assert "tidegate_late_now" not in found


def test_failed_and_discarded_events_are_counted_by_their_reason():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-08")
    world.tick("10:00")
    (job,) = world.launch_all("10:01")
    world.end("10:02", job, "failed")
    world.arrive("10:03", "raw", "2026-03-09")
    world.tick("10:03")
    world.cancel("10:04", world.last("s").id)

    assert measured(world, "10:05")["tidegate_deliveries"] == {
        ("a", "succeeded", ""): 0,
        ("a", "running", ""): 0,
        ("a", "pending", ""): 0,
        ("a", "failed", "F-RUN"): 1,
        ("a", "discarded", "D-CANCELLED"): 1,
    }


def test_before_the_first_tick_the_last_one_has_no_time_and_a_store_in_memory_no_size():
    found = measured(World(LATE), "10:00")
    assert found["tidegate_scheduler_ticking"] == {(): 0}
    assert found["tidegate_host_active"] == {(): 0}
    assert "tidegate_last_tick_timestamp_seconds" not in found
    assert "tidegate_last_tick_age_seconds" not in found
    assert "tidegate_store_bytes" not in found
