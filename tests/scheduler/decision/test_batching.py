"""Batches: `batching: each`, `max_batch`, and what a job that takes no more means for the next event."""

import pytest

from tests.worlds.world import World
from tidegate.scheduler.model.job import WAITING

HELD_BACK = "constraints: [{delay: 200d}], timeout: 300d"


def batches(world: World) -> list[list[str]]:
    """The keys that each job has collected, in the order in which the jobs were opened."""
    with world.store.reading() as reader:
        jobs = reader.jobs(schedules=["a/s"])
        found = reader.deliveries([job.id for job in jobs])
    return sorted(sorted((d.event.partition or "")[-2:] for d in found[job.id]) for job in jobs)


ROWS = [
    ("events join the job that waits", "", 1, [["01", "02", "03", "04", "05"]]),
    (
        "every satisfied trigger has its own job",
        "batching: each,",
        1,
        [["01"], ["02"], ["03"], ["04"], ["05"]],
    ),
    ("a batch is what satisfied it", "batching: each,", 2, [["01", "02"], ["03", "04"], ["05"]]),
    ("the next event opens a further job", "max_batch: 2,", 1, [["01", "02"], ["03", "04"], ["05"]]),
    ("a batch may be larger than what is needed", "max_batch: 3,", 2, [["01", "02", "03"], ["04", "05"]]),
]


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "one a minute"])
@pytest.mark.parametrize(("sentence", "option", "count", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_batches(sentence, option, count, expected, at_once):
    world = World(
        f"s: {{program: q, {option} status: active, {HELD_BACK},"
        f" trigger: {{partitions: {{dataset: raw, count: {count}}}}}}}"
    )
    world.tick("10:00")
    for day in range(1, 6):
        world.arrive("10:01" if at_once else f"10:0{day}", "raw", f"2026-03-0{day}")
    world.tick("10:10")
    assert batches(world) == expected


def test_batches_are_apart_for_each_key():
    world = World(
        f"s: {{program: q, for_each: month, batching: each, status: active, {HELD_BACK},"
        " trigger: {partitions: {dataset: raw, count: 2}}}"
    )
    world.arrive("10:00", "raw", "2026-02-01", "2026-03-01", "2026-02-02", "2026-03-02", "2026-03-03")
    world.tick("10:00")
    assert batches(world) == [["01", "02"], ["01", "02"], ["03"]]


def test_a_member_of_all_may_come_more_often_than_the_batch_is_large():
    world = World(
        "s: {program: q, max_batch: 2, status: active, trigger: {all: [{partitions: {dataset: raw}},"
        " {partitions: {dataset: other}}], wait_at_most: 10h}}"
    )
    world.arrive("10:00", "raw", "2026-03-01", "2026-03-02", "2026-03-03")
    world.tick("10:00")
    world.arrive("10:01", "other", "2026-03-01")
    world.tick("10:01")
    (job,) = world.jobs("s")
    assert job.launch is not None and len(job.launch.manifest["raw"]) == 3


def test_a_job_that_time_has_satisfied_takes_no_more_either():
    world = World(
        f"s: {{program: q, batching: each, status: active, {HELD_BACK},"
        " trigger: {partitions: {dataset: raw, count: 2}, wait_at_most: 5m}}"
    )
    world.tick("10:00")
    world.arrive("10:01", "raw", "2026-03-01")
    world.arrive("10:07", "raw", "2026-03-02")
    world.tick("10:08")
    assert batches(world) == [["01"], ["02"]]


def test_every_job_of_a_burst_is_launched():
    world = World("s: {program: q, batching: each, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", *(f"2026-03-0{day}" for day in range(1, 8)))
    world.tick("10:00")
    assert world.jobs("s", *WAITING) == ()
    assert len(world.jobs("s")) == 7
