"""Whose turn it is among jobs that are ready, and how long a low priority can be overtaken."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.worlds.job_view_of import JOB, SECOND
from tests.worlds.world import World, at
from tidegate.domain.model import Priority
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.launch_order import launch_order_key, launch_rank

BOUND = timedelta(hours=1)
"""The bound that the documentation states."""


def job(name: str):
    """`low 10:00 b`: a job of that priority, satisfied at that time, with that id."""
    priority, clock, id = name.split()
    return msgspec.structs.replace(JOB, id=id, priority=Priority(priority), satisfied_at=at(clock))


ORDERS = [
    ("at the same instant the higher priority", "high 10:00 b", "normal 10:00 a"),
    ("at the same instant normal before low", "normal 10:00 b", "low 10:00 a"),
    ("of one priority, who was satisfied first", "low 10:00 b", "low 10:01 a"),
    ("at the same instant and priority, the id", "low 10:00 a", "low 10:00 b"),
    ("a high one satisfied later overtakes a normal one", "high 10:29 b", "normal 10:00 a"),
    ("a high one satisfied later overtakes a low one", "high 10:59 b", "low 10:00 a"),
    ("an hour later it does not", "low 10:00 b", "high 11:00 a"),
    ("normal against low: half an hour", "normal 10:29 b", "low 10:00 a"),
    ("normal against low: less than half an hour", "low 10:00 b", "normal 10:30 a"),
]


@pytest.mark.parametrize(("sentence", "first", "second"), ORDERS, ids=[row[0] for row in ORDERS])
def test_who_goes_first(sentence, first, second):
    ahead, behind = job(first), job(second)
    assert launch_order_key(ahead, ahead.satisfied_at) < launch_order_key(behind, behind.satisfied_at)
    assert launch_rank(ahead) < launch_rank(behind)


def of_backfill(name: str, priority: Priority | None) -> Job:
    """Like `job`, as an instance of a backfill of this priority."""
    found = job(name)
    scheduled = found.opened_at
    instance = Instance(
        key="k",
        scheduled=scheduled,
        start=scheduled,
        business=scheduled,
        business_date="",
        number=1,
        priority=priority,
    )
    return msgspec.structs.replace(found, instance=instance)


BACKFILLS = [
    (
        "without a priority behind a low one of a day later",
        job("low 23:59 b"),
        of_backfill("high 00:01 a", None),
    ),
    ("also that of a task of high priority", job("normal 10:00 b"), of_backfill("high 10:00 a", None)),
    ("with one like other jobs", of_backfill("low 10:00 a", Priority.HIGH), job("normal 10:00 b")),
    ("and by age", job("normal 10:00 b"), of_backfill("high 10:40 a", Priority.LOW)),
    (
        "before a backfill without one",
        of_backfill("low 23:00 b", Priority.LOW),
        of_backfill("high 10:00 a", None),
    ),
    (
        "of two without one, the older one",
        of_backfill("low 10:00 b", None),
        of_backfill("high 10:01 a", None),
    ),
]


@pytest.mark.parametrize(("sentence", "ahead", "behind"), BACKFILLS, ids=[row[0] for row in BACKFILLS])
def test_where_a_backfill_stands(sentence: str, ahead: Job, behind: Job) -> None:
    assert launch_order_key(ahead, ahead.satisfied_at) < launch_order_key(behind, behind.satisfied_at)
    assert launch_rank(ahead) < launch_rank(behind)


def test_a_job_that_was_never_satisfied_counts_from_its_opening():
    assert launch_order_key(JOB, None) == launch_order_key(JOB, JOB.opened_at)


@given(
    others=st.lists(st.tuples(st.sampled_from(Priority), st.integers(-7200, 7200)), max_size=20),
    priority=st.sampled_from(Priority),
)
def test_nobody_is_overtaken_by_what_was_satisfied_by_the_bound_later(others, priority):
    mine = msgspec.structs.replace(JOB, priority=priority)
    for index, (other, second) in enumerate(others):
        theirs = msgspec.structs.replace(JOB, id=f"j{index}", priority=other)
        satisfied = at("10:00") + second * SECOND
        if satisfied >= at("10:00") + BOUND:
            assert launch_order_key(mine, at("10:00")) < launch_order_key(theirs, satisfied)


def test_a_stream_of_high_jobs_never_starves_a_low_one():
    """One slot, a run of ten minutes, and every five minutes a new high job: more than can ever run."""
    low = job("low 10:00 low")
    waiting, started = [low], []
    for minute in range(0, 600, 5):
        clock = at("10:00") + timedelta(minutes=minute)
        waiting.append(
            msgspec.structs.replace(JOB, id=f"h{minute}", priority=Priority.HIGH, satisfied_at=clock)
        )
        if minute % 10 == 0:
            chosen = min(waiting, key=lambda each: launch_order_key(each, each.satisfied_at))
            waiting.remove(chosen)
            started.append((clock, chosen))
    overtaking = [each for clock, each in started if each is not low][: [j for _, j in started].index(low)]
    assert low in [each for _, each in started]
    assert all(each.satisfied_at < at("11:00") for each in overtaking)


def test_the_engine_lets_a_low_job_through_within_the_bound():
    world = World(
        "high: {program: q, for_each: partition, priority: high, status: active,"
        " trigger: {partitions: {dataset: raw}}, constraints: [{concurrency: {max: 1, group: g}}]}\n"
        "low: {program: r, priority: low, status: active,"
        " trigger: {partitions: {dataset: other}}, constraints: [{concurrency: {max: 1, group: g}}]}"
    )
    world.run("09:00", "q", "started", "hand")
    world.arrive("10:00", "other", "2026-03-09")
    world.tick("10:00")
    running = None
    for step in range(20):
        clock = f"{10 + step // 6}:{10 * (step % 6):02}"
        world.arrive(clock, "raw", f"2025-01-{step + 1:02}", f"2025-02-{step + 1:02}")
        world.tick(clock)
        if running is None:
            world.run(clock, "q", "succeeded", "hand")
        else:
            world.end(clock, running)
        world.tick(clock)
        (running,) = world.launch_all(clock)
        if world.job(running).priority is Priority.LOW:
            break
    ahead = [job for job in world.jobs("high") if not job.waiting]
    assert ahead
    assert all(job.satisfied_at < at("11:00") for job in ahead)
    assert world.only("low").decided_at <= at("13:00")


def test_jobs_of_one_schedule_that_are_ready_at_one_instant_start_in_the_order_of_their_keys():
    world = World(
        "each: {program: q, for_each: partition, status: active, trigger: {partitions: {dataset: raw}}}"
    )
    days = [f"2026-02-{day:02}" for day in range(1, 21)]
    world.arrive("10:00", "raw", *reversed(days))
    launched = world.tick("10:00").launched
    offered = [request.job for request in world.offer_launches("10:00")]
    assert [world.job(id).key for id in launched] == days
    assert [world.job(id).key for id in offered] == days
