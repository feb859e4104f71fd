"""The code server was away for ten minutes, and every job that became due meanwhile was dead afterwards.

What would meet every launch is not counted against a job. Its slots are free meanwhile, and it is launched
when that is over.
"""

import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.explain.outcome import outcome_line
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.launch.outbox import OFFERS_MAX, offer_launches, postpone, reject, resume_launches
from tidegate.scheduler.model.job import Job, JobState

AWAY = "the location tidegate is not loaded: ModuleNotFoundError: No module named 'programs'"
FEED = """
  s:
    program: q
    status: active
    trigger: {partitions: {dataset: raw}}
    constraints: [{concurrency: {max: 1}}]
"""


@pytest.fixture
def world() -> World:
    made = World(FEED)
    made.arrive("10:00", "raw", "2026-03-09")
    made.tick("10:00")
    return made


def only_job(world: World) -> Job:
    (found,) = world.jobs("s")
    return found


def test_no_try_counts_however_long_it_lasts(world: World) -> None:
    for minute in range(0, 10 * OFFERS_MAX, 10):
        clock = f"{10 + minute // 60}:{minute % 60:02}"
        world.tick(clock)
        with world.store.transaction() as transaction:
            offered = [launch.job for launch in offer_launches(transaction, at(clock), "a")]
            postpone(transaction, {"a"}, AWAY, at(clock), offered=offered)
    job = only_job(world)
    assert (job.state, job.offers, job.detail) == (JobState.PENDING_LAUNCH, 0, AWAY)
    assert (
        outcome_line(job) == f"PENDING_LAUNCH: its launch is postponed: {AWAY}; it holds no slots meanwhile"
    )


def test_its_slot_is_free_meanwhile_and_taken_again_when_it_is_over(world: World) -> None:
    resources = only_job(world).resources
    with world.store.transaction() as transaction:
        postpone(transaction, {"a"}, AWAY, at("10:01"))
        assert transaction.slots(resources) == dict.fromkeys(resources, 0)
    world.tick("10:02")
    with world.store.transaction() as transaction:
        assert offer_launches(transaction, at("10:02"), "a") == ()
        resume_launches(transaction, {"a"}, AWAY, at("10:02"))
    world.tick("10:03")
    with world.store.transaction() as transaction:
        assert transaction.slots(resources) == dict.fromkeys(resources, 1)
        assert [launch.job for launch in offer_launches(transaction, at("10:03"), "a")] == [
            only_job(world).id
        ]


def test_what_may_have_a_run_keeps_its_slots(world: World) -> None:
    with world.store.transaction() as transaction:
        offer_launches(transaction, at("10:00"), "a")
        postpone(transaction, {"a"}, AWAY, at("10:01"))
    assert not only_job(world).gave_back


def test_why_names_a_dead_letter(world: World) -> None:
    job = only_job(world)
    with world.store.transaction() as transaction:
        offer_launches(transaction, at("10:00"), "a")
        reject(transaction, job.id, 1, "the program q is unknown", at("10:01"), final=True)
    with world.store.reading() as reader:
        (found,) = explain(reader, "a/s", at("10:02"))
    assert found.headline == (
        f"no waiting job: the last job {job.id} is a dead letter (the program q is unknown), which"
        f" `tidegate jobs requeue {job.id}` queues again"
    )
