"""From the decision to the run: the launch plan, the outbox, and the claim."""

from datetime import UTC, datetime

import msgspec
import pytest

from tests.scheduler.world import World, app_of, at
from tidegate.domain.model import PartitionScheme, TimeDimension
from tidegate.scheduler.decision.job_view import JobView
from tidegate.scheduler.decision.launch_plan import business_date, plan_launch
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.launch.outbox import FIRST_BACK_OFF, OFFERS_MAX, launch_reason, reject
from tidegate.scheduler.model.job import IllegalTransition, Job, JobState, LaunchPlan, move
from tidegate.scheduler.model.run import RunStatus

S = "s: {program: p, status: active, trigger: {partitions: {dataset: raw}}"


def pending(*keys: str, schedules: str = S + "}") -> World:
    """A world whose jobs may launch at ten."""
    world = World(schedules)
    world.arrive("10:00", "raw", *(keys or ("2026-03-09",)))
    world.tick("10:00")
    return world


# --- the plan ---

PLANS = [
    ("manifest: every key of the outputs' own scheme", S + "}", ("2026-03-08", "2026-03-09")),
    ("current: the last day that is over", S + ", output_partition: current}", ("2026-03-09",)),
    (
        "key, the default with for_each",
        S.replace("status", "for_each: partition, status") + "}",
        ("2026-03-08",),
    ),
    (
        "business date, though the other member and no cron began it",
        "s: {program: p, status: active, output_partition: business_date,"
        ' trigger: {any: [{cron: "0 6 1 1 *"}, {partitions: {dataset: raw}}]}}',
        ("2026-03-09",),
    ),
    ("a program without outputs", S.replace("program: p", "program: q") + "}", ()),
]


@pytest.mark.parametrize(("sentence", "schedule", "expected"), PLANS, ids=[row[0] for row in PLANS])
def test_output_partitions(sentence, schedule, expected):
    world = pending("2026-03-08", "2026-03-09", schedules=schedule)
    assert (
        world.jobs("s")[0].launch.partitions == expected or world.jobs("s")[1].launch.partitions == expected
    )


def test_a_schedule_of_an_earlier_version_that_writes_none_of_its_partitions():
    app = app_of(S + "}")
    schedule = msgspec.structs.replace(app.schedules["s"], output_partition="none")
    job = Job(id="j", schedule="a/s", opened_at=at("10:00"))
    assert plan_launch(JobView(app=app, schedule=schedule, job=job), at("10:00")).partitions == ()


UPSTREAM = [
    (
        "what the run wrote",
        {"out": ("2026-03-01", "2026-03-02")},
        ("2026-03-01", "2026-03-02"),
    ),
    ("of another cut: the last day that is over", {"chunks": ("2026-03-01|EWR",)}, ("2026-03-09",)),
    ("of a dataset that was removed", {"gone": ("2026-03-01",)}, ("2026-03-09",)),
    ("not known", {}, ("2026-03-09",)),
]
AFTER_P = "s: {program: t, status: active, trigger: {run: {program: p}}"


@pytest.mark.parametrize(("sentence", "outputs", "written"), UPSTREAM, ids=[row[0] for row in UPSTREAM])
@pytest.mark.parametrize("says", ["", ", output_partition: {from: trigger.run.outputs.out}"])
def test_what_a_run_after_a_run_writes(sentence, outputs, written, says):
    world = after_run(AFTER_P + says + "}", outputs)
    assert world.only("s").launch.partitions == written


def test_only_the_named_dataset_of_the_upstream_run_counts():
    says = ", output_partition: {from: trigger.run.outputs.out}}"
    world = after_run(AFTER_P + says, {"out": ("2026-03-01",), "raw": ("2026-03-05",)})
    assert world.only("s").launch.partitions == ("2026-03-01",)


def test_every_upstream_run_counts():
    schedule = "s: {program: t, status: active, trigger: {run: {program: p, count: 2}}}"
    world = after_run(schedule, {"out": ("2026-03-05",)}, {"out": ("2026-03-01",)})
    assert world.only("s").launch.partitions == ("2026-03-01", "2026-03-05")


def after_run(schedule: str, *outputs: dict[str, tuple[str, ...]]) -> World:
    """A world in which runs of p have written something."""
    world = World(schedule)
    with world.store.transaction() as transaction:
        seen = [
            RunObservation(
                run_id=f"x{n}", program="a/p", status=RunStatus.SUCCEEDED, at=at("10:00"), outputs=each
            )
            for n, each in enumerate(outputs)
        ]
        observe_runs(transaction, seen, at("10:00"))
    world.tick("10:00")
    return world


BY_TIME = [
    ("a cron in any, with nothing collected", '{any: [{cron: "0 6 * * *"}, {partitions: {dataset: raw}}]}'),
    ("a size over another cut", "{size: {dataset: hourly, rows: 5}}"),
    ("a run of a program without outputs", "{run: {program: q}}"),
]


@pytest.mark.parametrize(("sentence", "trigger"), BY_TIME, ids=[row[0] for row in BY_TIME])
def test_outputs_cut_by_time_get_the_last_day_that_is_over(sentence, trigger):
    world = World(f"s: {{program: p, status: active, trigger: {trigger}}}")
    world.arrive("05:00", "hourly", "2026-02-01-05:00", rows=9)
    world.run("05:00", "q", "succeeded", "x")
    world.tick("06:00")
    assert world.only("s").launch.partitions == ("2026-03-09",)


def test_outputs_that_begin_later_than_what_was_collected_take_its_keys():
    world = World("s: {program: t, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    assert world.only("s").launch.partitions == ("2026-03-09",)


def test_the_plan_of_a_cron_has_its_time_and_business_date():
    world = World('s: {program: p, status: active, trigger: {cron: "30 4 * * *"}, args: {n: 1}}')
    world.tick("04:30")
    plan = world.only("s").launch
    assert (plan.scheduled_time, plan.business_date, plan.partitions) == (
        at("04:30"),
        "2026-03-09",
        ("2026-03-09",),
    )
    assert plan.args == {"n": 1}


def test_the_plan_of_run_triggers_names_each_upstream_run_once():
    world = World(
        "s: {program: q, status: active, trigger: {any: [{run: {program: r, count: 2}},"
        " {run: {program: r, status: completed, count: 2}}]}}"
    )
    world.run("10:00", "r", "succeeded", "x")
    world.run("10:01", "r", "succeeded", "y")
    world.tick("10:01")
    assert world.only("s").launch.upstream_runs == ("x", "y")


def scheme(cycle, zone="UTC") -> PartitionScheme:
    return PartitionScheme(time=TimeDimension(name="t", cycle=cycle, start="2013-01-01", timezone=zone))


DATES = [
    ("a day before, without partitioned outputs", "2026-03-10T06:00:00+00:00", None, "UTC", "2026-03-09"),
    ("the local day counts", "2026-03-10T03:30:00+00:00", None, "America/New_York", "2026-03-08"),
    (
        "half past midnight in New York: the day that has just ended there",
        "2026-03-10T04:30:00+00:00",
        None,
        "America/New_York",
        "2026-03-09",
    ),
    ("an hour before", "2026-03-10T06:10:00+00:00", scheme("hour"), "UTC", "2026-03-10-05:00"),
    ("a month before", "2026-03-10T06:10:00+00:00", scheme("month"), "UTC", "2026-02-01"),
    ("a year before", "2026-03-10T06:10:00+00:00", scheme("year"), "UTC", "2025-01-01"),
    (
        "the wall time of the schedule names the partition of another zone",
        "2026-03-10T03:30:00+00:00",
        scheme("day", "UTC"),
        "America/New_York",
        "2026-03-08",
    ),
]


@pytest.mark.parametrize(
    ("sentence", "scheduled", "outputs", "zone", "expected"), DATES, ids=[d[0] for d in DATES]
)
def test_business_date(sentence, scheduled, outputs, zone, expected):
    assert business_date(datetime.fromisoformat(scheduled).astimezone(UTC), outputs, zone) == expected


# --- the outbox ---


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
    assert world.offer_launches("10:00:09") == ()
    assert len(world.offer_launches("10:00:10")) == 1
    assert world.only("s").detail == "no such partition"


def test_healthy_jobs_are_offered_beside_rejected_ones():
    days = [f"2026-{month:02}-{day:02}" for month in (1, 2) for day in range(1, 26)]
    world = pending(*days, schedules=S.replace("status", "for_each: partition, status") + "}")
    bad = {job.id for job in world.jobs("s")}
    for clock in ("10:00", "10:05", "10:10", "10:15"):
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
    assert len(world.offer_launches("10:01")) == 1
    world.arrive("11:00", "raw", "2026-03-09")
    world.tick("11:00")
    assert [offer.job for offer in world.offer_launches("11:00")] == [request.job]


def test_a_launch_rejected_to_the_end_is_a_dead_letter_with_its_message():
    world = pending()
    for offer in range(OFFERS_MAX):
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


# --- the claim ---


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
