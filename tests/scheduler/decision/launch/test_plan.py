"""The launch plan: which partitions a run writes, its time, its business date, its upstream runs."""

import msgspec
import pytest

from tests.scheduler.launch.test_launching import S, pending
from tests.worlds.world import World, app_of, at
from tidegate.scheduler.decision.launch.plan import plan_launch
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.intake.observe import RunObservation, observe_runs
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.run import RunStatus

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


CURRENT = "c: {program: p, status: active, output_partition: current, trigger: %s}"

NEWEST = [
    ("a cron", CURRENT % '{cron: "0 2 * * *"}', "2026-03-09"),
    (
        "a cron of a zone in which the day has begun",
        CURRENT % '{cron: "0 2 * * *", timezone: Asia/Tokyo}',
        "2026-03-09",
    ),
    (
        "a fire that waits for what comes a day later",
        CURRENT % '{all: [{cron: "0 2 10 3 *"}, {partitions: {dataset: raw}}]}',
        "2026-03-10",
    ),
]


@pytest.mark.parametrize(("sentence", "schedule", "written"), NEWEST, ids=[row[0] for row in NEWEST])
def test_the_newest_complete_day_is_that_of_the_moment_when_the_trigger_was_satisfied(
    sentence, schedule, written
):
    world = World(schedule, start="01:00")
    world.tick("17:00")
    world.arrive("1d 05:00", "raw", "2026-03-09")
    world.tick("1d 05:00")
    (job, *_) = world.jobs("c")
    assert job.launch.partitions == (written,)


def test_a_schedule_that_writes_none_of_its_partitions():
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
