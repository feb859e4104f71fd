"""From the decision to the run: the outbox, and the claim."""

import msgspec
import pytest

from tests.worlds.world import World, at
from tidegate.scheduler.launch.outbox import FIRST_BACK_OFF, OFFERS_MAX, launch_reason, reject
from tidegate.scheduler.model.job import IllegalTransition, JobState, LaunchPlan, move

S = "s: {program: p, status: active, trigger: {partitions: {dataset: raw}}"


def pending(*keys: str, schedules: str = S + "}") -> World:
    """A world whose jobs may launch at ten."""
    world = World(schedules)
    world.arrive("10:00", "raw", *(keys or ("2026-03-09",)))
    world.tick("10:00")
    return world


def test_an_offer_carries_what_a_launcher_needs():
    (request,) = pending().offer_launches("10:00")
    assert (request.schedule, request.app, request.attempt, request.run_key) == (
        "a/s",
        "a",
        1,
        f"{request.job}:1",
    )
    assert request.launch.manifest == {"raw": ("2026-03-09",)}
    assert request.reason == "1 partition(s) of raw"


def test_a_job_without_a_launch_plan_is_a_bug_and_said_so():
    world = pending()
    with world.store.transaction() as transaction:
        transaction.put_jobs([msgspec.structs.replace(world.only("s"), launch=None)])
    with pytest.raises(ValueError, match="PENDING_LAUNCH without a launch plan"):
        world.offer_launches("10:00")
    with pytest.raises(ValueError, match="PENDING_LAUNCH without a launch plan"):
        _ = world.only("s").program


REASONS = [
    ("by hand", {}, "by hand"),
    (
        "partitions",
        {"manifest": {"raw": ("a", "b"), "other": ("c",)}},
        "2 partition(s) of raw, 1 partition(s) of other",
    ),
    ("a cron", {"scheduled_time": at("10:00")}, "cron of 2026-03-10T10:00:00+00:00"),
    ("a run", {"upstream_runs": ("x",)}, "1 upstream run(s)"),
]


@pytest.mark.parametrize(("sentence", "fields", "line"), REASONS, ids=[row[0] for row in REASONS])
def test_the_reason_of_a_launch(sentence, fields, line):
    assert launch_reason(LaunchPlan(program="p", **fields)) == line


def test_a_job_is_offered_under_the_same_key_until_a_run_is_seen():
    world = pending()
    (first,) = world.offer_launches("10:00")
    (second,) = world.offer_launches("10:00:05")
    assert first.run_key == second.run_key
    world.run("10:00:06", "p", "queued", "x", first.job)
    assert world.offer_launches("10:10") == ()
    assert world.job(first.job).state is JobState.LAUNCHED


def test_only_so_many_are_offered_at_once_the_higher_priority_first():
    world = pending(
        schedules=f"{S}, for_each: partition, priority: low}}\n"
        + S.replace("s: {program: p", "h: {program: q")
        + ", priority: high}"
    )
    requests = world.offer_launches("10:00", limit=1)
    assert [request.schedule for request in requests] == ["a/h"]


def test_a_low_priority_is_offered_in_the_end_however_many_high_ones_come():
    world = World(
        "low: {program: q, priority: low, status: active, trigger: {partitions: {dataset: other}}}\n"
        "high: {program: q, priority: high, for_each: partition, status: active,"
        " trigger: {partitions: {dataset: raw}}}"
    )
    world.arrive("10:00", "other", "2026-03-09")
    offered = []
    for minute in range(0, 120, 10):
        clock = f"{10 + minute // 60}:{minute % 60:02}"
        world.arrive(clock, "raw", *(f"2025-{minute // 10 + 1:02}-{day:02}" for day in (1, 2, 3)))
        world.tick(clock)
        for request in world.offer_launches(clock, limit=2):
            world.run(clock, "q", "queued", f"run-{request.job}", request.job)
            offered.append(request.schedule)
    # 2 of 3 can go each time: those that were satisfied within an hour after it go first.
    assert "a/low" in offered
    assert offered.index("a/low") <= 3 * 7


def test_a_suspect_goes_alone_and_its_pauses_grow():
    world = pending(
        "2026-03-08", "2026-03-09", schedules=S.replace("status", "for_each: partition, status") + "}"
    )
    assert len(world.offer_launches("10:00")) == 2
    assert len(world.offer_launches("10:01")) == 2
    alone = world.offer_launches("10:02")
    assert len(alone) == 1
    assert world.job(alone[0].job).next_check_at == at("10:02") + 2 * FIRST_BACK_OFF
    other = world.offer_launches("10:02:01")
    assert len(other) == 1
    assert other[0].job != alone[0].job
    assert world.offer_launches("10:02:02") == ()


def test_offers_that_come_to_nothing_end_as_a_dead_letter_which_frees_its_slot():
    world = pending(schedules=S + ", constraints: [{concurrency: {max: 1}}]}")
    for offer in range(OFFERS_MAX):
        assert len(world.offer_launches(f"{11 + offer}:00")) == 1
    assert world.offer_launches("20:00") == ()
    job = world.only("s")
    assert (job.state, job.reason) == (JobState.FAILED, "F-LAUNCH")
    assert world.ledger("s").discarded == {"F-LAUNCH": 1}
    world.arrive("21:00", "raw", "2026-03-09")
    world.tick("21:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_rejected_launch_keeps_its_message_and_waits():
    world = pending()
    (request,) = world.offer_launches("10:00")
    with world.store.transaction() as transaction:
        reject(transaction, request.job, 9, "another attempt", at("10:00"))
        reject(transaction, request.job, 1, "no such partition", at("10:00"))
    world.tick("10:00:09")
    assert world.offer_launches("10:00:09") == ()
    world.tick("10:00:10")
    assert len(world.offer_launches("10:00:10")) == 1
    assert world.only("s").detail == "no such partition"


ONE_A_DAY = (
    "s: {program: p, status: active, trigger: {partitions: {dataset: raw}},"
    " constraints: [{concurrency: {max: 1, group: g}}, {rate: {max: 1, per: 1d}}]}\n"
    "t: {program: p, status: active, trigger: {partitions: {dataset: other}},"
    " constraints: [{concurrency: {max: 1, group: g}}, {rate: {max: 1, per: 1d}}]}"
)


def rejected(world: World, clock: str) -> str:
    """All launches that are offered are rejected; the first job."""
    requests = world.offer_launches(clock)
    for request in requests:
        with world.store.transaction() as transaction:
            reject(transaction, request.job, request.attempt, "not loaded", at(clock))
    return requests[0].job


def taken(world: World) -> dict[str, int]:
    with world.store.reading() as reader:
        return {name: count for name, count in reader.slots(["runs", "group:g"]).items() if count}


def test_a_rejected_launch_gives_back_its_slots_and_its_place_in_the_rate():
    world = pending(schedules=ONE_A_DAY)
    job = rejected(world, "10:00")
    assert (world.job(job).state, world.job(job).gave_back, taken(world)) == ("PENDING_LAUNCH", True, {})
    world.arrive("10:00:05", "other", "2026-03-09")
    world.tick("10:00:05")
    (healthy,) = world.offer_launches("10:00:05")
    assert healthy.schedule == "a/t"
    assert taken(world) == {"runs": 1, "group:g": 1}


def test_it_is_offered_again_only_when_it_has_them():
    world = pending(schedules=ONE_A_DAY)
    job = rejected(world, "10:00")
    world.arrive("10:00:05", "other", "2026-03-09")
    world.tick("10:00:05")
    (other,) = world.launch_all("10:00:05")
    world.tick("10:00:10")
    assert (world.offer_launches("10:00:10"), world.job(job).blocked_on) == ((), "program:a/p")
    world.end("10:30", other)
    world.tick("10:30")
    assert world.offer_launches("10:30") == ()
    world.tick("1d 10:00:05")
    (again,) = world.offer_launches("1d 10:00:05")
    assert (again.job, taken(world)) == (job, {"runs": 1, "group:g": 1})
    assert not world.job(job).gave_back


def test_offered_again_it_counts_against_the_limits():
    world = pending(schedules=ONE_A_DAY)
    rejected(world, "10:00")
    world.tick("10:00:10")
    assert len(world.offer_launches("10:00:10")) == 1
    world.arrive("10:00:15", "other", "2026-03-09")
    world.tick("10:00:15")
    assert world.outcome("t") == ("PENDING_CONSTRAINT", "W-RATE")


def test_a_launch_of_which_an_offer_may_have_arrived_keeps_its_slots():
    world = pending(schedules=ONE_A_DAY)
    world.offer_launches("10:00")
    job = rejected(world, "10:00:05")
    assert (world.job(job).rejected, taken(world)) == (0, {"runs": 1, "group:g": 1})


def test_a_rejection_that_is_repeated_counts_once():
    world = pending(schedules=ONE_A_DAY)
    job = rejected(world, "10:00")
    with world.store.transaction() as transaction:
        reject(transaction, job, 1, "not loaded", at("10:00"))
    assert (world.job(job).offers, world.job(job).rejected) == (1, 1)


@pytest.mark.parametrize("seen", ["claim", "started", "succeeded"])
def test_a_run_that_appears_although_its_launch_was_rejected_takes_its_slots(seen):
    world = pending(schedules=ONE_A_DAY)
    job = rejected(world, "10:00")
    if seen == "claim":
        assert world.claim("10:00:05", job, "x").won
    else:
        world.run("10:00:05", "p", seen, "x", job)
    assert taken(world) == ({} if seen == "succeeded" else {"runs": 1, "group:g": 1})
    with world.store.reading() as reader:
        assert reader.launches(["a/p"], at("00:00")) == {"a/p": (at("10:00:05"),)}


def test_a_forced_job_is_offered_again_whatever_but_concurrency_says():
    world = World(ONE_A_DAY)
    world.trigger("10:00", "s", "2026-03-09", force=True)
    world.tick("10:00")
    job = rejected(world, "10:00")
    world.arrive("10:00:05", "other", "2026-03-09")
    world.tick("10:00:05")
    (other,) = world.launch_all("10:00:05")
    world.tick("10:00:10")
    assert world.offer_launches("10:00:10") == ()
    world.end("10:01", other)
    world.tick("10:01")
    assert [request.job for request in world.offer_launches("10:01")] == [job]


def test_it_takes_them_again_before_jobs_that_were_ready_later():
    world = pending(schedules=ONE_A_DAY.replace(", {rate: {max: 1, per: 1d}}", ""))
    job = rejected(world, "10:00")
    world.arrive("10:00:05", "other", "2026-03-09")
    world.tick("10:00:05")
    (other,) = world.launch_all("10:00:05")
    world.arrive("10:00:06", "other", "2026-03-08")
    world.tick("10:00:30")
    world.end("10:30", other)
    world.tick("10:30")
    assert [request.job for request in world.offer_launches("10:30")] == [job]


def test_healthy_jobs_are_offered_beside_rejected_ones():
    days = [f"2026-{month:02}-{day:02}" for month in (1, 2) for day in range(1, 26)]
    world = pending(*days, schedules=S.replace("status", "for_each: partition, status") + "}")
    bad = {job.id for job in world.jobs("s")}
    for clock in ("10:00", "10:05", "10:10", "10:15"):
        world.tick(clock)
        for request in world.offer_launches(clock, limit=50):
            with world.store.transaction() as transaction:
                reject(transaction, request.job, 1, "not loaded", at(clock))
    world.arrive("10:20", "raw", "2026-03-09")
    world.tick("10:20")
    offered = world.offer_launches("10:20")
    assert offered[0].launch.partitions == ("2026-03-09",)
    assert len(offered) == 25
    assert all(request.job in bad for request in offered[1:])


def test_a_rejected_job_that_reaches_the_launcher_without_a_run_is_a_suspect_again():
    world = pending("2026-03-08", schedules=S.replace("status", "for_each: partition, status") + "}")
    (request,) = world.offer_launches("10:00")
    with world.store.transaction() as transaction:
        reject(transaction, request.job, 1, "not loaded", at("10:00"))
    world.tick("10:01")
    assert len(world.offer_launches("10:01")) == 1
    assert len(world.offer_launches("10:10")) == 1
    world.arrive("11:00", "raw", "2026-03-09")
    world.tick("11:00")
    assert [offer.job for offer in world.offer_launches("11:00")] == [request.job]


def test_a_launch_rejected_to_the_end_is_a_dead_letter_with_its_message():
    world = pending()
    for offer in range(OFFERS_MAX):
        world.tick(f"{11 + offer}:00")
        (request,) = world.offer_launches(f"{11 + offer}:00")
        with world.store.transaction() as transaction:
            reject(transaction, request.job, 1, "no such partition", at(f"{11 + offer}:00"))
    job = world.only("s")
    assert (job.state, job.reason, job.detail) == (JobState.FAILED, "F-LAUNCH", "no such partition")


def test_a_launch_that_can_never_be_valid_is_a_dead_letter_at_once():
    world = pending(schedules=S + ", constraints: [{concurrency: {max: 1}}]}")
    (request,) = world.offer_launches("10:00")
    with world.store.transaction() as transaction:
        reject(transaction, request.job, 1, "no partition to write", at("10:00"), final=True)
    job = world.only("s")
    assert (job.state, job.reason, job.detail) == (JobState.FAILED, "F-LAUNCH", "no partition to write")


def test_the_first_run_of_an_attempt_wins_and_any_other_loses():
    world = pending()
    (request,) = world.offer_launches("10:00")
    assert world.claim("10:00:01", request.job, "x").won
    assert world.claim("10:00:02", request.job, "x").won
    lost = world.claim("10:00:03", request.job, "y")
    assert not lost.won
    assert lost.refusal == "run x has claimed this attempt"
    assert world.job(request.job).run_id == "x"


def test_a_claim_is_proof_that_the_run_exists():
    world = pending()
    (request,) = world.offer_launches("10:00")
    world.claim("10:00:01", request.job, "x")
    assert world.job(request.job).state is JobState.LAUNCHED
    assert world.offer_launches("10:05") == ()


def test_what_cannot_be_claimed():
    world = pending()
    job = world.only("s").id
    assert world.claim("10:00", "none", "x").refusal == "the schedule store has no job none"
    assert world.claim("10:00", job, "x", attempt=2).refusal == "attempt 2 is over, the job is at attempt 1"
    for _ in range(OFFERS_MAX):
        world.offer_launches("30d 00:00")
    with world.store.transaction() as transaction:
        (held,) = transaction.jobs(ids=[job])
        transaction.put_jobs([move(held, JobState.FAILED, reason=None)])
    assert "the job is FAILED" in world.claim("10:00", job, "x").refusal


def test_a_job_never_goes_back():
    job = pending().only("s")
    with pytest.raises(IllegalTransition, match="PENDING_LAUNCH -> PENDING_CONSTRAINT"):
        move(job, JobState.PENDING_CONSTRAINT)
