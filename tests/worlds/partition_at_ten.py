"""A schedule of program q that any partition of raw triggers: where the tests of constraints begin."""

from tests.worlds.world import World

KEY = "2026-03-09"

S = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}"


def world_with(constraints: str, rest: str = "") -> World:
    """A schedule `s` of program q, triggered by any partition of raw."""
    return World(f"{S}, constraints: {constraints}{rest}}}")


def arrived(constraints: str, clock: str = "10:00", rest: str = "", before=()) -> World:
    """The same, with a partition that has arrived and a tick at that time."""
    world = world_with(constraints, rest)
    for what in before:
        world.run(*what)
    world.arrive(clock, "raw", KEY)
    world.tick(clock)
    return world


def busy(clock: str = "09:00", program: str = "q") -> tuple[str, str, str, str]:
    """A run of a program that a person started."""
    return (clock, program, "started", "hand")


SUCCESS = [("08:50", "q", "started", "old"), ("09:45", "q", "succeeded", "old")]
