"""An end of a run decides as many jobs as there are free slots, in launch order, and no other ones."""

import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.model.job import JobState

ONE_BY_ONE = """
s: {program: q, for_each: partition, status: active, trigger: {partitions: {dataset: raw}}, timeout: 30d,
  constraints: [{concurrency: {max: 1}}]}
"""


def days(count: int) -> list[str]:
    """So many keys of days."""
    return [f"2025-{number // 28 + 1:02d}-{number % 28 + 1:02d}" for number in range(count)]


def running(world: World, schedule: str) -> list[str]:
    """The keys of the active jobs of a schedule."""
    return sorted(job.key for job in world.jobs(schedule, JobState.PENDING_LAUNCH, JobState.LAUNCHED))


def ended(world: World, clock: str, schedule: str, key: str) -> None:
    """The run of a key ends."""
    (job,) = (each for each in world.jobs(schedule) if each.key == key)
    world.run(clock, job.program.partition("/")[2], "succeeded", f"run-{job.id}", job.id)


def test_an_end_decides_one_of_hundreds_of_waiting_keys():
    world = World(ONE_BY_ONE)
    world.arrive("10:00", "raw", *days(300))
    world.tick("10:00")
    for minute in range(1, 6):
        ended(world, f"10:0{minute}", "s", days(300)[minute - 1])
        report = world.tick(f"10:0{minute}")
        assert (report.decided, len(report.launched)) == (1, 1)
        assert running(world, "s") == [days(300)[minute]]


def test_an_end_without_a_free_slot_decides_nothing():
    world = World(ONE_BY_ONE)
    world.run("09:00", "q", "started", "by-hand")
    world.run("09:00", "q", "started", "by-hand-2")
    world.arrive("10:00", "raw", *days(3))
    world.tick("10:00")
    world.run("10:01", "q", "succeeded", "by-hand")
    assert world.tick("10:01").decided == 0
    world.run("10:02", "q", "succeeded", "by-hand-2")
    assert world.tick("10:02").decided == 1
    assert running(world, "s") == days(1)


def test_several_slots_that_are_free_at_an_instant_go_to_as_many_jobs():
    world = World(ONE_BY_ONE.replace("max: 1", "max: 3"))
    world.arrive("10:00", "raw", *days(9))
    world.tick("10:00")
    for key in days(3):
        ended(world, "10:01", "s", key)
    assert world.tick("10:01").decided == 3
    assert running(world, "s") == days(6)[3:]


def test_a_job_that_does_not_take_its_slot_lets_the_next_one_be_decided_at_the_same_instant():
    world = World(
        """
by_day: {program: q, status: active, priority: high, trigger: {partitions: {dataset: raw}},
  constraints: [{concurrency: {max: 1, group: g}}, {window: {from: "06:00", to: "20:00"}}]}
always: {program: r, for_each: partition, status: active, trigger: {partitions: {dataset: other}},
  constraints: [{concurrency: {max: 1, group: g}}]}
"""
    )
    world.arrive("10:00", "other", *days(1))
    world.tick("10:00")
    world.arrive("10:01", "raw", *days(1))
    world.arrive("10:02", "other", *days(9)[1:])
    world.tick("10:02")
    ended(world, "21:00", "always", days(1)[0])
    report = world.tick("21:00")
    assert running(world, "by_day") == []
    assert world.outcome("by_day") == ("PENDING_CONSTRAINT", "W-WINDOW")
    assert (running(world, "always"), report.decided) == ([days(2)[1]], 2)


def test_the_first_in_launch_order_of_all_schedules_takes_the_slot():
    world = World(
        """
late_but_urgent: {program: q, priority: high, status: active, trigger: {partitions: {dataset: raw}},
  constraints: [{concurrency: {max: 1, group: g}}]}
first: {program: r, for_each: partition, status: active, trigger: {partitions: {dataset: other}},
  constraints: [{concurrency: {max: 1, group: g}}]}
"""
    )
    world.arrive("10:00", "other", *days(50))
    world.tick("10:00")
    world.arrive("10:20", "raw", *days(1))
    world.tick("10:20")
    ended(world, "10:21", "first", days(1)[0])
    assert world.tick("10:21").launched == (world.only("late_but_urgent").id,)


def test_a_job_that_is_due_itself_takes_its_turn_among_those_of_the_queue():
    world = World(
        """
waits: {program: q, status: active, trigger: {partitions: {dataset: raw}},
  constraints: [{delay: 5m}, {concurrency: {max: 1, group: g}}]}
queued: {program: r, for_each: partition, status: active, trigger: {partitions: {dataset: other}},
  constraints: [{concurrency: {max: 1, group: g}}]}
"""
    )
    world.arrive("10:00", "other", *days(1))
    world.tick("10:00")
    world.arrive("10:01", "raw", *days(1))
    world.arrive("10:02", "other", *days(3)[1:])
    world.tick("10:05")
    ended(world, "10:06", "queued", days(1)[0])
    assert world.tick("10:06").launched == (world.only("waits").id,)


LIMITS = [
    # the limit before -> after: how many of five days run
    ("[{concurrency: {max: 1}}]", "[{concurrency: {max: 3}}]", 3),
    ("[{concurrency: {max: 1}}]", "[]", 5),
    ("[{load: {max_active_runs: 1}}]", "[{load: {max_active_runs: 2}}]", 2),
]


@pytest.mark.parametrize(("before", "after", "runs"), LIMITS)
def test_a_limit_that_a_deployment_raises_frees_what_waits(before: str, after: str, runs: int) -> None:
    text = ONE_BY_ONE.replace("[{concurrency: {max: 1}}]", before).replace(
        "status: active", "on_update: carry, status: active"
    )
    world = World(text)
    world.arrive("10:00", "raw", *days(5))
    world.tick("10:00")
    assert running(world, "s") == days(1)
    world.redeploy("11:00", text.replace(before, after))
    world.tick("11:00")
    assert running(world, "s") == days(runs)


def test_jobs_under_two_limits_are_passed_over_while_either_is_full():
    world = World(
        """
s: {program: q, for_each: partition, status: active, trigger: {partitions: {dataset: raw}},
  constraints: [{concurrency: {max: 1}}, {load: {max_active_runs: 3}}]}
"""
    )
    world.run("09:00", "r", "started", "other")
    world.run("09:00", "r", "started", "another")
    world.arrive("10:00", "raw", *days(200))
    world.tick("10:00")
    assert running(world, "s") == days(1)
    world.run("10:01", "r", "started", "third")
    ended(world, "10:02", "s", days(1)[0])
    assert world.tick("10:02").decided == 0
    world.run("10:03", "r", "succeeded", "third")
    assert world.tick("10:03").decided == 1
    world.run("10:04", "r", "succeeded", "other")
    # The first one, which says now what it lacks.
    assert world.tick("10:04").decided == 1
    assert running(world, "s") == [days(2)[1]]
    assert {job.reason for job in world.jobs("s", JobState.PENDING_CONSTRAINT)} == {"W-LOAD", "W-CONCURRENCY"}


def test_a_cancelled_head_of_the_queue_holds_up_nobody():
    world = World(ONE_BY_ONE)
    world.arrive("10:00", "raw", *days(3))
    world.tick("10:00")
    first, second, _ = sorted(world.jobs("s"), key=lambda job: job.key)
    world.run("10:05", "q", "succeeded", "run", first.id)
    world.cancel("10:05", second.id)
    world.tick("10:05")
    assert running(world, "s") == [days(3)[2]]
    assert world.jobs("s", JobState.PENDING_LAUNCH)[0].decided_at == at("10:05")


def test_a_job_that_leaves_its_queue_to_wait_for_something_else_keeps_its_events():
    """One tick frees its slot while its window is closed, and then opens the window."""
    window = "window: {from: '10:05', to: '10:01', timezone: UTC}"
    world = World(ONE_BY_ONE.replace("[{concurrency", f"[{{{window}}}, {{concurrency"))
    world.arrive("10:00", "raw", *days(2))
    world.tick("10:00")
    ended(world, "10:02", "s", days(1)[0])
    assert len(world.tick("10:06").launched) == 1
    (job,) = (each for each in world.jobs("s") if each.key == days(2)[1])
    assert job.launch is not None
    assert {dataset: tuple(keys) for dataset, keys in job.launch.manifest.items()} == {"raw": (days(2)[1],)}
