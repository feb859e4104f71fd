"""Suspending and the clocks of `elapsed`: where they count from, and what they have missed."""

from tests.scheduler.commands.test_suspend import HELD, READY, A, all_of, world_of
from tests.worlds.world import World, at


def clock_world(mode: str) -> World:
    return world_of(mode, "trigger: {elapsed: {for: 4h}}")


def test_a_clock_counts_from_the_activation_when_nothing_has_run_yet():
    world = clock_world("discard")
    world.tick("03:59:59")
    assert world.jobs("s") == ()
    world.tick("04:00")
    assert world.outcome("s") == READY


def test_a_clock_counts_from_the_end_of_the_last_run_when_it_is_resumed():
    world = clock_world("discard")
    world.suspend("01:00", "s")
    world.run("02:00", "q", "started", "x")
    world.run("03:00", "q", "succeeded", "x")
    world.resume("05:00", "s")
    world.tick("06:59:59")
    assert world.jobs("s") == ()
    world.tick("07:00")
    assert world.outcome("s") == READY


def test_a_clock_that_ran_out_while_suspended_fires_at_the_resume():
    world = clock_world("drain")
    world.run("00:30", "q", "started", "x")
    world.run("01:00", "q", "succeeded", "x")
    world.suspend("02:00", "s")
    world.tick("09:00")
    assert world.jobs("s") == ()
    world.resume("09:00", "s")
    world.tick("09:00")
    assert world.outcome("s") == READY
    assert world.only("s").satisfied_at == at("09:00")


def test_a_clock_goes_on_in_a_backlog():
    world = clock_world("backlog")
    world.suspend("01:00", "s")
    world.tick("04:00")
    assert all_of(world) == [HELD]
    world.resume("05:00", "s")
    world.tick("05:00")
    assert all_of(world) == [READY]


def test_a_silence_is_counted_from_the_resume():
    world = world_of("discard", "trigger: {elapsed: {for: 2h, since: last_event, dataset: raw}}")
    world.arrive("00:30", "raw", A)
    world.tick("00:30")
    world.suspend("01:00", "s")
    world.resume("05:00", "s")
    world.tick("06:59:59")
    assert world.jobs("s") == ()
    world.tick("07:00")
    assert world.outcome("s") == READY
