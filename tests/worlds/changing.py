"""A schedule that is changed while events wait: where the tests of updates begin."""

from tests.worlds.world import World

A, B, C, D = "2026-03-06", "2026-03-07", "2026-03-08", "2026-03-09"

DROPPED = ("DISCARDED", "D-UPDATED")
SUSPENDED = ("DISCARDED", "D-SUSPENDED")
COLLECTING = ("PENDING_TRIGGER", "W-TRIGGER")
READY = ("PENDING_LAUNCH", None)


def s(rest: str, update: str = "carry", program: str = "q") -> str:
    return f"s: {{program: {program}, status: active, on_update: {update}, {rest}}}"


def raw(count: int, rest: str = "") -> str:
    return f"trigger: {{partitions: {{dataset: raw, count: {count}}}}}{rest}"


def collected(*keys: str, schedule: str) -> World:
    """Partitions came at ten."""
    world = World(schedule)
    world.arrive("10:00", "raw", *keys)
    world.tick("10:00")
    return world


def all_of(world: World) -> list[tuple[str, str | None]]:
    return [(str(job.state), job.reason and str(job.reason)) for job in world.jobs("s")]


def mode(on_suspend: str, count: int = 3) -> str:
    return s(raw(count, f", on_suspend: {on_suspend}"))
