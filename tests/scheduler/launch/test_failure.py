"""Why a run failed, which the run notes at its job; the job's state follows from the run."""

import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.launch.run_report import note_failure

SAID = "ValueError: no fares (fares.py:3)"


@pytest.fixture
def world() -> World:
    """A job that is launched since ten."""
    made = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    made.arrive("10:00", "raw", "2026-03-09")
    made.tick("10:00")
    made.launch_all("10:00")
    return made


def test_it_stays_when_the_run_has_ended_and_goes_with_the_next_attempt(world: World) -> None:
    job = world.only("s").id
    assert note_failure(world.store, job, 1, f"run-{job}", SAID, at("10:01"))
    assert world.outcome("s") == ("LAUNCHED", None)
    world.end("10:02", job, "failed")
    assert (world.only("s").reason, world.only("s").detail) == ("F-RUN", SAID)
    with world.store.reading() as present, store_at(present, at("10:02")).reading() as past:
        assert past.jobs()[0].detail == SAID
    assert world.retry("10:03", job).detail == ""


@pytest.mark.parametrize(("attempt", "run"), [(2, "run-{}"), (1, "other")])
def test_only_the_run_that_holds_the_claim_says_it(world: World, attempt: int, run: str) -> None:
    job = world.only("s").id
    assert not note_failure(world.store, job, attempt, run.format(job), SAID, at("10:01"))
    assert world.only("s").detail == ""


def test_a_job_that_has_ended_keeps_what_it_has(world: World) -> None:
    job = world.only("s").id
    world.end("10:01", job)
    assert not note_failure(world.store, job, 1, f"run-{job}", SAID, at("10:02"))
