"""Whether a tick would have something to do: what a host asks before it rests."""

from tests.worlds.world import World, at
from tidegate.scheduler.tick.due import is_anything_due

CRON = 's: {program: q, status: active, trigger: {cron: "0 10 * * *"}}'
QUIET = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}, quiet: 30m}}"


def due(world: World, clock: str) -> bool:
    with world.store.reading() as reader:
        return is_anything_due(reader, at(clock))


def test_a_fire_is_due_at_its_instant_and_no_more_once_it_is_done() -> None:
    world = World(CRON)
    world.tick("09:00")
    assert [due(world, clock) for clock in ("09:00", "09:59:59", "10:00")] == [False, False, True]
    world.tick("10:00")
    assert not due(world, "10:00")


def test_an_event_is_due_at_once_and_a_job_at_its_next_check() -> None:
    world = World(QUIET)
    world.tick("09:00")
    assert not due(world, "23:00")
    world.arrive("09:10", "raw", "2026-03-09")
    assert due(world, "09:10")
    world.tick("09:10")
    assert [due(world, clock) for clock in ("09:10", "09:39:59", "09:40")] == [False, False, True]
