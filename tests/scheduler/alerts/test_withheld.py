"""A withheld publish is heard as a failure with what the checks have found, and its release as well."""

from tests.scheduler.alerts.test_collect import RULES, SCHEDULES
from tests.scheduler.test_withheld_jobs import release, withhold
from tests.worlds.world import World, at
from tidegate.scheduler.alerts.collect import collect
from tidegate.scheduler.launch.run_report import note_failure

DAY = "2026-03-09"


def heard(world: World, clock: str) -> list[tuple[str, str, str]]:
    """The alerts of a collection: each with its channel, kind and reason."""
    with world.store.reading() as reader:
        before = {each.id for each in reader.alerts("")}
    collect(world.store, "", RULES, at(clock))
    with world.store.reading() as reader:
        found = [each for each in reader.alerts("") if each.id not in before]
    return sorted((each.channel, each.kind.value, each.message.reason) for each in found)


def launched(world: World, clock: str) -> tuple[str, str, int]:
    """The job of the next launch, its run and its attempt."""
    world.tick(clock)
    (request,) = world.offer_launches(clock)
    run = f"run of {request.run_key}"
    world.claim(clock, request.job, run, request.attempt)
    return request.job, run, request.attempt


def fails(world: World, clock: str, job: str, run: str, attempt: int) -> None:
    """The run withholds its publish, and fails."""
    withhold(world, clock, job, token=attempt)
    note_failure(world.store, job, attempt, run, "commit c is withheld: check id", at(clock), withheld=job)
    world.run(clock, "p", "failed", run, job, attempt)


def test_what_is_withheld_is_a_failure_and_is_well_once_it_is_released() -> None:
    world = World(SCHEDULES)
    world.arrive("10:00", "raw", DAY)
    job, run, attempt = launched(world, "10:00")
    fails(world, "10:05", job, run, attempt)
    world.tick("10:05")
    assert heard(world, "10:06") == [("ops", "failed", "F-CHECK"), ("team", "failed", "F-CHECK")]
    assert heard(world, "12:00") == []
    release(world, "12:30", job)
    world.tick("12:30")
    assert heard(world, "12:31") == [("ops", "recovered", "F-CHECK")]
    assert heard(world, "12:32") == []


def test_a_release_before_the_collection_is_heard_after_the_failure() -> None:
    world = World(SCHEDULES)
    world.arrive("10:00", "raw", DAY)
    job, run, attempt = launched(world, "10:00")
    fails(world, "10:05", job, run, attempt)
    release(world, "10:06", job)
    world.tick("10:06")
    assert ("ops", "failed", "F-CHECK") in heard(world, "10:07")


def test_a_retry_that_publishes_is_well_too() -> None:
    world = World(SCHEDULES)
    world.arrive("10:00", "raw", DAY)
    job, run, attempt = launched(world, "10:00")
    fails(world, "10:05", job, run, attempt)
    world.tick("10:05")
    heard(world, "10:06")
    world.retry("11:00", job)
    job, run, attempt = launched(world, "11:00")
    world.run("11:05", "p", "succeeded", run, job, attempt)
    assert heard(world, "11:06") == [("ops", "recovered", "F-CHECK")]
