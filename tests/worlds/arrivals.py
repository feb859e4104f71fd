"""What arrives for a trigger, and when that satisfied it: the rows of the tables on triggers."""

from tests.worlds.world import World

P = "p"
"""What arrives: (clock, "p", dataset, key) is a partition, (clock, "r", program, status) a run."""


def satisfied(trigger: str, arrivals: list[tuple[str, ...]], for_each: str = "", look: str = "23:00"):
    """When the trigger was satisfied, for each key of the schedule."""
    world = World(
        f"s: {{program: q, {for_each} status: active, timeout: 300d, trigger: {trigger},"
        " constraints: [{delay: 200d}]}"
    )
    for number, (clock, kind, name, what) in enumerate(arrivals):
        if kind == P:
            world.arrive(clock, name, what)
        else:
            world.run(clock, name, what, f"run-{number}")
    world.tick(look)
    return {job.key: job.satisfied_at for job in world.jobs("s")}


def p(clock: str, dataset: str, key: str) -> tuple[str, ...]:
    return (clock, P, dataset, key)


def r(clock: str, program: str, status: str) -> tuple[str, ...]:
    return (clock, "r", program, status)


A, B, C = "2026-03-07", "2026-03-08", "2026-03-09"
