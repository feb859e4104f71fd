"""What a run receives besides keys: sizes, times, and which members of the trigger held."""

import msgspec

from tests.worlds.world import World, at
from tidegate.domain.launch_input import Fired, PartitionInput
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.job import LaunchPlan


def report(world: World, arrived: str, dataset: str, key: str, happened: str, **size: int) -> None:
    """A partition is reported that its source finished earlier."""
    event = Event(
        id=f"{dataset}{key}{arrived}",
        kind=EventKind.PARTITION,
        key=partition_event_key("a", dataset),
        time=at(happened),
        arrived=at(arrived),
        partition=key,
        **size,
    )
    with world.store.transaction() as transaction:
        transaction.add_events([event])


def launch(world: World, clock: str) -> LaunchPlan:
    world.tick(clock)
    plan = world.last("s").launch
    assert plan is not None
    return plan


def test_each_partition_has_its_newest_size_and_its_times():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}")
    report(world, "10:00", "raw", "2026-03-08", "09:00", rows=5, bytes=50)
    report(world, "10:01", "raw", "2026-03-08", "08:00", rows=7)
    report(world, "10:02", "raw", "2026-03-09", "09:30")
    plan = launch(world, "10:02")
    assert plan.sizes == {
        "raw": {
            "2026-03-08": PartitionInput(
                rows=7, bytes=50, updates=2, first_time=at("08:00"), last_time=at("09:00")
            ),
            "2026-03-09": PartitionInput(
                rows=None, bytes=None, updates=1, first_time=at("09:30"), last_time=at("09:30")
            ),
        }
    }
    assert (plan.first_event_time, plan.last_event_time) == (at("08:00"), at("09:30"))
    assert plan.now == at("10:02")


def test_updates_without_partitions_add_up():
    trigger = "{partitions: {dataset: plain, count: 2, distinct: false}}"
    world = World(f"s: {{program: q, status: active, trigger: {trigger}}}")
    report(world, "10:00", "plain", "", "10:00", rows=5)
    report(world, "10:01", "plain", "", "10:01", rows=7, bytes=9)
    (found,) = launch(world, "10:01").sizes["plain"].values()
    assert (found.rows, found.bytes, found.updates) == (12, 9, 2)


ANY = (
    "s: {program: q, status: active, trigger: {any: [{size: {dataset: raw, rows: 10}}, {cron: '0 12 * * *'},"
    " {all: [{partitions: {dataset: other}}, {run: {program: r}}]}]}}"
)


def test_the_members_that_held():
    world = World(ANY)
    report(world, "10:00", "raw", "2026-03-08", "10:00", rows=5)
    report(world, "10:00", "other", "2026-03-08", "10:00")
    assert launch(world, "12:00").fired == (
        Fired(kind="cron", member="1"),
        Fired(kind="partitions", member="2.0", of="other"),
    )
    report(world, "13:00", "raw", "2026-03-08", "13:00", rows=10)
    assert launch(world, "13:00").fired == (Fired(kind="size", member="0", of="raw"),)
    report(world, "14:00", "other", "2026-03-09", "14:00")
    world.run("14:01", "r", "succeeded", "by hand")
    assert launch(world, "14:01").fired == (
        Fired(kind="partitions", member="2.0", of="other"),
        Fired(kind="run", member="2.1", of="r"),
    )


def test_a_job_by_hand_has_collected_nothing():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.trigger("10:00", "s")
    plan = launch(world, "10:00")
    assert (plan.fired, plan.sizes, plan.first_event_time) == ((), {}, None)


def test_the_key_and_the_store_keep_it():
    world = World("s: {program: p, for_each: day, status: active, trigger: {partitions: {dataset: hourly}}}")
    report(world, "10:00", "hourly", "2026-03-09-05:00", "10:00", rows=5)
    plan = launch(world, "10:00")
    assert plan.key == "2026-03-09"
    assert msgspec.json.decode(msgspec.json.encode(plan), type=LaunchPlan) == plan
