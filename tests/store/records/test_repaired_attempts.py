"""A job gets no further attempt once another one was launched that repairs it, in every store (rule 30)."""

import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.launch.outbox import reject
from tidegate.scheduler.launch.run_report import note_failure
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.protocol import Store

DAY, AFTER = "2026-03-09", "2026-03-10"
JOIN = """
s: {program: p, status: active, for_each: day, repair: true%s,
    trigger: {all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}], wait_at_most: 1h}}
hears: {program: r, status: active, trigger: {run: {program: p, status: failed}}}
"""
RETRIES = ", retries: {max: 2, wait: 2h}"
F_RUN = ("FAILED", "F-RUN")


def early(store: Store, more: str = RETRIES, repair: str = ", repair: true") -> tuple[World, str]:
    """A world in which the run of a provisional job has begun, and the job."""
    world = World(JOIN.replace(", repair: true", repair) % more, store=store)
    world.arrive("10:00", "raw", DAY)
    world.tick("10:00")
    world.tick("11:00")
    (first,) = world.launch_all("11:00")
    return world, first


def fails(world: World, clock: str, job: str, attempt: int = 1) -> None:
    run = f"run-{job}" if attempt == 1 else f"run-{job}-{attempt}"
    assert note_failure(world.store, job, attempt, run, "bad rows", at(clock))
    world.run(clock, "p", "failed", run, job, attempt)


def repaired(world: World, clock: str = "12:00") -> Job:
    """What was missing comes, and the repair is launched; its job."""
    world.arrive(clock, "other", DAY)
    world.tick(clock)
    (job,) = [job for job in world.jobs("s") if job.repairs is not None]
    assert job.launch is not None
    return job


def state(job: Job) -> tuple[str, str | None]:
    return str(job.state), None if job.reason is None else str(job.reason)


def launches(world: World, schedule: str = "s") -> int:
    return len([entry for entry in world.journal(schedule) if entry.kind == "launch"])


def slots(world: World) -> int:
    with world.store.reading() as reader:
        return reader.slots(["program:a/p"])["program:a/p"]


def test_an_attempt_that_waits_for_its_pause_ends_when_the_repair_is_launched(store: Store) -> None:
    world, first = early(store)
    fails(world, "11:30", first)
    assert world.job(first).retry_at == at("13:30")
    assert not world.jobs("hears")
    second = repaired(world)
    ended = world.job(first)
    assert state(ended) == F_RUN
    assert (ended.ended_at, ended.retry_at, ended.detail) == (at("12:00"), None, "bad rows")
    # `run` triggers hear of the failure now, and nothing starts it when its pause is over.
    assert len(world.jobs("hears")) == 1
    world.tick("14:00")
    assert (launches(world), slots(world)) == (2, 1)
    with world.store.reading() as reader:
        (why,) = explain(reader, first, at("14:00"))
    repairs = f"; job {second.id} repairs it, so no further attempt follows"
    assert why.headline.endswith(f"; bad rows; provisional, without other {DAY}{repairs}"), why.headline


def test_an_attempt_whose_run_is_not_known_ends_and_releases_its_slot(store: Store) -> None:
    world, first = early(store, RETRIES.replace("2h", "10m") + ", constraints: [{concurrency: {max: 2}}]")
    fails(world, "11:30", first)
    world.tick("11:40")
    (request,) = world.offer_launches("11:40")
    assert (request.job, request.attempt, slots(world)) == (first, 2, 1)
    second = repaired(world)
    assert state(world.job(first)) == F_RUN
    assert slots(world) == 1
    # The run that was asked for may begin all the same: it cannot claim its job.
    assert not world.claim("12:01", first, "late", 2).won
    world.run("12:02", "p", "failed", "late", first, 2)
    assert state(world.job(first)) == F_RUN
    assert second.id in [each.job for each in world.offer_launches("12:03")]
    assert first not in [each.job for each in world.offer_launches("12:04")]


def test_the_slot_of_an_ended_attempt_is_free_at_the_same_instant(store: Store) -> None:
    limit = ", retries: {max: 2, wait: 10m}, constraints: [{concurrency: {max: 2}}]"
    world, first = early(store, limit)
    fails(world, "11:30", first)
    world.tick("11:40")
    # They satisfy their triggers at one instant, and the repair comes first.
    world.arrive("12:00", "raw", AFTER)
    world.arrive("12:00:01", "other", DAY, AFTER)
    world.tick("12:00:01")
    assert [state(job) for job in world.jobs("s")] == [F_RUN, *[("PENDING_LAUNCH", None)] * 2]
    assert slots(world) == 2


def test_an_attempt_that_is_due_with_its_repair_leaves_it_the_work(store: Store) -> None:
    world, first = early(store, RETRIES.replace("2h", "30m"))
    fails(world, "11:30", first)
    second = repaired(world)
    assert (state(world.job(first)), second.launch is not None, slots(world)) == (F_RUN, True, 1)


def test_a_run_that_works_goes_on_and_no_attempt_follows_its_failure(store: Store) -> None:
    world, first = early(store)
    repaired(world)
    assert state(world.job(first)) == ("LAUNCHED", None)
    # A later job of the key that repairs nothing changes nothing of that.
    world.launch_all("12:01")
    world.trigger("12:30", "s", key=DAY)
    world.tick("12:30")
    fails(world, "13:00", first)
    world.tick("13:00")
    assert (state(world.job(first)), len(world.jobs("hears"))) == (F_RUN, 1)


def test_an_attempt_that_works_goes_on_too(store: Store) -> None:
    world, first = early(store, RETRIES.replace("2h", "10m"))
    fails(world, "11:30", first)
    world.tick("11:40")
    world.offer_launches("11:40")
    assert world.claim("11:41", first, f"run-{first}-2", 2).won
    repaired(world)
    assert state(world.job(first)) == ("LAUNCHED", None)
    fails(world, "12:30", first, 2)
    assert state(world.job(first)) == F_RUN


def test_before_its_repair_is_launched_an_attempt_starts_as_always(store: Store) -> None:
    young = JOIN.replace("{dataset: other}}]", "{dataset: other}}, {partitions: {dataset: young}}]")
    world = World(young.replace("repair: true", "repair: {after: 4h}") % RETRIES, store=store)
    world.arrive("10:00", "raw", DAY)
    world.tick("10:00")
    world.tick("11:00")
    (first,) = world.launch_all("11:00")
    fails(world, "11:30", first)
    world.arrive("12:00", "other", DAY)
    world.tick("12:00")
    world.tick("13:30")
    assert (state(world.job(first)), world.job(first).attempt) == (("PENDING_LAUNCH", None), 2)


def test_new_data_of_the_key_ends_no_attempt(store: Store) -> None:
    world, first = early(store, RETRIES.replace("2h", "4h"), repair="")
    fails(world, "11:30", first)
    world.arrive("12:00", "other", DAY)
    world.tick("12:00")
    world.tick("13:00")
    assert launches(world) == 2
    assert world.job(first).retry_at == at("15:30")


def test_by_hand_it_is_refused_with_the_job_that_repairs_it(store: Store) -> None:
    world, first = early(store, "")
    fails(world, "11:30", first)
    second = repaired(world)
    with pytest.raises(Refused, match=f"job {second.id} was launched with its events too") as refused:
        world.retry("12:30", first)
    assert f"`tidegate jobs retry {second.id}`" in str(refused.value.hint)
    # The repair itself may be run again.
    world.launch_all("12:31")
    fails(world, "12:40", second.id)
    assert world.retry("12:50", second.id).attempt == 2


def test_a_dead_letter_that_is_repaired_is_not_queued_again(store: Store) -> None:
    world = World(JOIN % "", store=store)
    world.arrive("10:00", "raw", DAY)
    world.tick("10:00")
    world.tick("11:00")
    (request,) = world.offer_launches("11:00")
    with world.store.transaction() as transaction:
        reject(transaction, request.job, 1, "no such partition", at("11:00"), final=True)
    again = world.requeue("11:30", request.job)
    assert again.attempt == 2
    repaired(world)
    assert state(world.job(request.job)) == ("DISCARDED", "D-REPAIRED")
    for again in (world.requeue, world.retry):
        with pytest.raises(Refused, match="is repaired"):
            again("12:30", request.job)


def test_one_that_a_person_has_retried_ends_too(store: Store) -> None:
    world, first = early(store, "")
    fails(world, "11:30", first)
    world.retry("11:58", first)
    repaired(world)
    assert (state(world.job(first)), world.job(first).attempt) == (F_RUN, 2)


def test_a_repair_that_was_cancelled_before_its_run_replaces_nothing(store: Store) -> None:
    world, first = early(store, "")
    fails(world, "11:30", first)
    world.cancel("12:01", repaired(world).id)
    assert world.retry("12:30", first).attempt == 2


def test_the_past_knows_the_end_of_an_attempt(store: Store) -> None:
    world, first = early(store, RETRIES.replace("2h", "10m"))
    fails(world, "11:30", first)
    world.tick("11:40")
    repaired(world)
    with world.store.reading() as reader:
        past = store_at(reader, at("12:00"))
    with past.reading() as reader:
        (job,) = reader.jobs(ids=[first])
        assert state(job) == F_RUN
        assert reader.slots(["program:a/p"]) == {"program:a/p": 1}
