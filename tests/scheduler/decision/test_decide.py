"""What wakes a waiting job, what joins it, and who takes the slot (rules 1, 8, 14, 15 and 20)."""

from tests.worlds.partition_at_ten import KEY, S, arrived, busy, world_with
from tests.worlds.world import World, at

# --- boundaries and what wakes a job ---


def test_a_delay_holds_at_its_very_end_and_not_before():
    world = arrived("[{delay: 10m}]")
    world.tick("10:09:59")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-DELAY")
    world.tick("10:10")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_delay_from_the_first_event():
    world = World(
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}},"
        " constraints: [{delay: {for: 30m, from: first_event}}]}"
    )
    world.arrive("10:00", "raw", "2026-03-08")
    world.tick("10:00")
    world.arrive("10:20", "raw", "2026-03-09")
    world.tick("10:20")
    assert world.only("s").next_check_at == at("10:30")


def test_downtime_counts_for_the_delay_since_the_event_arrived_then():
    world = world_with("[{delay: 10m}]")
    world.arrive("10:00", "raw", KEY)
    world.tick("11:30")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_freed_slot_wakes_the_job():
    world = arrived("[{concurrency: {max: 1}}]", before=[busy()])
    world.tick("10:30")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    world.run("11:00", "q", "failed", "hand")
    world.tick("11:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_after_the_active_run_the_time_since_it_counts():
    world = arrived("[{since_last_run: {for: 30m}}]", before=[busy()])
    world.run("11:00", "q", "succeeded", "hand")
    world.tick("11:00")
    assert (world.outcome("s"), world.only("s").next_check_at) == (
        ("PENDING_CONSTRAINT", "W-LAST-RUN"),
        at("11:30"),
    )
    world.tick("11:30")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_job_blocked_on_two_slots_launches_when_both_are_free_whatever_the_order():
    for first, second in (("x", "y"), ("y", "x")):
        world = World(
            f"{S}, constraints: [{{concurrency: {{max: 1}}}}, {{concurrency: {{max: 1, group: g}}}}]}}\n"
            "t: {program: r, status: suspended, trigger: {partitions: {dataset: other}},"
            " constraints: [{concurrency: {max: 9, group: g}}]}"
        )
        world.run("09:00", "q", "started", "x")
        world.run("09:00", "r", "started", "y")
        world.arrive("10:00", "raw", KEY)
        world.tick("10:00")
        world.run("11:00", "q" if first == "x" else "r", "succeeded", first)
        world.tick("11:00")
        assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
        world.run("12:00", "q" if second == "x" else "r", "succeeded", second)
        world.tick("12:00")
        assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_an_event_at_the_instant_of_the_launch_still_joins():
    world = arrived("[{delay: 10m}]")
    world.arrive("10:10", "raw", "2026-03-08")
    world.tick("10:10")
    assert world.only("s").launch.manifest == {"raw": ("2026-03-08", KEY)}


def test_an_event_after_the_launch_opens_the_next_job():
    world = arrived("[{delay: 10m}]")
    world.tick("10:10")
    world.arrive("10:11", "raw", KEY)
    world.tick("10:11")
    assert [str(job.state) for job in world.jobs("s")] == ["PENDING_LAUNCH", "PENDING_CONSTRAINT"]


# --- slots among jobs ---

TWO = """
low:
  {program: q, priority: low, status: active, trigger: {partitions: {dataset: raw}},
  constraints: [{concurrency: {max: 1, group: g}}]}
high:
  {program: r, priority: high, status: active, trigger: {partitions: {dataset: raw}},
  constraints: [{concurrency: {max: 1, group: g}}]}
"""


def test_two_schedules_cannot_both_take_the_last_slot_and_the_higher_priority_takes_it():
    world = World(TWO)
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    assert world.outcome("high") == ("PENDING_LAUNCH", None)
    assert world.outcome("low") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")


def test_a_slot_is_held_from_the_decision_to_the_end_of_the_run():
    world = World(TWO)
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    (job,) = world.launch_all("10:01")
    world.tick("10:02")
    assert world.outcome("low") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    world.end("10:05", job)
    world.tick("10:05")
    assert world.outcome("low") == ("PENDING_LAUNCH", None)


def test_among_equals_the_one_satisfied_first_takes_the_slot():
    world = World(
        "s: {program: q, for_each: partition, status: active, trigger: {partitions: {dataset: raw}},"
        " constraints: [{concurrency: {max: 1}}]}"
    )
    world.run("09:00", "q", "started", "hand")
    for minute, key in (("10:02", "2026-03-01"), ("10:01", "2026-03-09"), ("10:03", "2026-03-05")):
        world.arrive(minute, "raw", key)
    world.tick("10:05")
    world.run("11:00", "q", "succeeded", "hand")
    world.tick("11:00")
    assert [job.key for job in world.jobs("s") if not job.waiting] == ["2026-03-09"]


def test_a_second_ready_job_of_the_same_program_sees_the_first_as_active():
    world = World(
        "s: {program: q, for_each: partition, status: active, trigger: {partitions: {dataset: raw}},"
        " constraints: [{since_last_run: {for: 1h, otherwise: skip}}]}"
    )
    world.arrive("10:00", "raw", "2026-03-08", "2026-03-09")
    world.tick("10:00")
    assert sorted(str(job.state) for job in world.jobs("s")) == ["DISCARDED", "PENDING_LAUNCH"]
