"""Each time a run ends, the scheduler goes through the whole queue, and gets slower with its length.

Users of such tools keep thousands of partitions behind one pool. What they fear then: a scheduler that is
busy with what cannot start, free slots that stay free, and an order that is not the promised one.
"""

import pytest

from tests.worlds.world import World
from tidegate.scheduler.model.job import JobState

LIMITS = {
    "of the program": "[{concurrency: {max: 1}}]",
    "of a group": "[{concurrency: {max: 1, group: pool}}]",
    "of all runs": "[{load: {max_active_runs: 1}}]",
    "two at once": "[{concurrency: {max: 1, group: pool}}, {load: {max_active_runs: 9}}]",
}
KEYS = [f"2024-{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 26)]


def crowd(constraints: str) -> World:
    """A world in which 300 days wait for one slot; the first one runs."""
    world = World(
        "s: {program: q, for_each: partition, status: active, timeout: 30d,"
        f" trigger: {{partitions: {{dataset: raw}}}}, constraints: {constraints}}}"
    )
    world.arrive("10:00", "raw", *KEYS)
    world.tick("10:00")
    return world


def runs(world: World) -> list[str]:
    """The days that run."""
    return sorted(job.key for job in world.jobs("s", JobState.PENDING_LAUNCH, JobState.LAUNCHED))


@pytest.mark.parametrize("limit", LIMITS)
def test_an_end_costs_the_same_however_many_wait(limit: str) -> None:
    world = crowd(LIMITS[limit])
    for number in range(4):
        (job,) = world.jobs("s", JobState.PENDING_LAUNCH)
        world.run(f"10:1{number}", "q", "succeeded", f"run{number}", job.id)
        assert world.tick(f"10:1{number}").decided == 1
        assert runs(world) == [KEYS[number + 1]]


def test_a_failed_run_and_a_cancelled_one_free_their_slots_at_once() -> None:
    world = crowd(LIMITS["of a group"].replace("1", "2"))
    for number, status in enumerate(("failed", "cancelled")):
        job = world.jobs("s", JobState.PENDING_LAUNCH)[0]
        world.run("10:20", "q", status, f"run{number}", job.id)
    assert world.tick("10:20").decided == 2
    assert runs(world) == KEYS[2:4]


def test_a_slot_that_is_free_is_taken_although_its_first_job_was_cancelled() -> None:
    world = crowd(LIMITS["of the program"])
    first, second, third, *_ = sorted(world.jobs("s"), key=lambda job: job.key)
    world.run("10:20", "q", "succeeded", "run", first.id)
    world.cancel("10:20", second.id)
    world.tick("10:20")
    assert runs(world) == [third.key]
