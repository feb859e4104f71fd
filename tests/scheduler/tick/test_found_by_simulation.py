"""What random histories have found, each in the few steps that it takes."""

import msgspec
import pytest

from tests.worlds.by import CLI
from tests.worlds.world import World, app_of, at
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.launch.dead_letter import requeue

TWO_LEAVES = """
s: {program: p, trigger: {any: [{partitions: {dataset: raw}}, {partitions: {dataset: raw, count: 2}}]},
    batching: each, status: active}
"""
WITHOUT_GROUP = """
s: {program: p, trigger: {partitions: {dataset: raw}}, status: active}
"""
WITH_GROUP = """
s: {program: p, trigger: {partitions: {dataset: raw}}, status: active,
    constraints: [{concurrency: {max: 1, group: g}}]}
"""
OF_RAW = """
s: {program: p, trigger: {partitions: {dataset: raw}}, status: active}
"""
OF_CHUNKS = """
s: {program: p, trigger: {partitions: {dataset: chunks, complete: day}}, status: active}
"""


def test_an_event_at_two_leaves_belongs_to_one_job_even_if_the_first_leaf_fills_it() -> None:
    world = World(TWO_LEAVES)
    world.arrive("10:00", "raw", "2026-03-09")
    world.arrive("10:00", "raw", "2026-03-08")

    world.tick("10:00")

    assert len(world.jobs("s")) == 2
    assert [entry.job for entry in world.journal("s") if entry.kind == "job-opened"] == [
        job.id for job in world.jobs("s")
    ]


def test_a_run_that_is_seen_again_takes_no_slot_of_a_group_that_was_deployed_since() -> None:
    world = World(WITHOUT_GROUP)
    world.run("10:00", "p", "started", "hand")
    with_group: App = app_of(WITH_GROUP)
    with world.store.transaction() as transaction:
        deploy(transaction, {"a": with_group}, at("10:10"), by=CLI)

    world.run("10:00", "p", "started", "hand")

    with world.store.reading() as reader:
        assert reader.slots(["program:a/p", "group:g"]) == {"program:a/p": 1, "group:g": 0}


@pytest.mark.parametrize("without_raw", [False, True])
def test_a_dead_letter_is_queued_again_under_a_trigger_that_listens_to_something_else(
    without_raw: bool,
) -> None:
    world = World(OF_RAW)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    for minute in range(20):
        world.offer_launches(f"10:{minute:02}")
    assert world.outcome("s") == ("FAILED", "F-LAUNCH")
    changed = app_of(OF_CHUNKS)
    if without_raw:
        datasets = {name: each for name, each in changed.datasets.items() if name != "raw"}
        changed = msgspec.structs.replace(changed, datasets=datasets)

    with world.store.transaction() as transaction:
        deploy(transaction, {"a": changed}, at("10:30"), by=CLI)
        requeue(transaction, world.only("s").id, at("10:30"), by=CLI)

    assert world.tick("10:30").errors == ()
    job = world.only("s")
    assert job.state == "PENDING_LAUNCH"
    assert job.launch is not None and job.launch.manifest == {"raw": ("2026-03-09",)}


CRON_AND_DATA = """
s: {program: q, for_each: day, batching: each, status: active,
    trigger: {all: [{partitions: {dataset: raw}}, {cron: "0 10 * * *"}]}}
"""
TWO_OF_THREE = """
s: {program: q, status: active, max_batch: 2, constraints: [{delay: 1h}],
    trigger: {all: [{partitions: {dataset: raw}}, {partitions: {dataset: raw}}]}}
"""
HOURLY = "s: {program: q, status: active, trigger: {any: [{partitions: {dataset: raw}}, {cron: '0 * * * *'}]}"


def test_a_fire_that_fills_the_job_of_a_key_is_consumed_and_no_more() -> None:
    world = World(CRON_AND_DATA)
    world.arrive("09:00", "raw", "2026-03-09")
    world.tick("10:00")

    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    assert (world.ledger("s").pending, world.ledger("s").discarded) == (2, {})


def test_an_event_at_two_leaves_counts_once_in_a_batch_and_in_the_ledger() -> None:
    world = World(TWO_OF_THREE)
    world.arrive("10:00", "raw", "2026-03-08")
    world.tick("10:00")
    world.arrive("10:10", "raw", "2026-03-09")
    world.tick("10:10")
    world.arrive("10:20", "raw", "2026-03-10")
    world.tick("10:20")

    assert [job.closed for job in world.jobs("s")] == [True, False]
    assert world.ledger("s").pending == 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [("update", "D-UPDATED"), ("delete", "D-DELETED"), ("suspend", "D-SUSPENDED")],
)
def test_what_was_missed_while_the_scheduler_was_away_belongs_to_the_schedule_as_it_was(
    change: str, reason: str
) -> None:
    world = World(HOURLY + "}", start="08:30")
    world.tick("08:30")
    world.arrive("09:10", "raw", "2026-03-09")
    match change:
        case "update":
            world.redeploy("10:30", HOURLY + ", args: {x: 1}}")
        case "delete":
            world.redeploy("10:30", "t: {program: r, trigger: {run: {program: q}}}")
        case _:
            world.suspend("10:30", "s")
    world.tick("10:30")

    assert world.outcome("s") == ("DISCARDED", reason)
    # The fire of nine is superseded by that of ten.
    assert world.ledger("s").discarded == {reason: 2, "D-EXPIRED": 1}


def test_a_drained_schedule_launches_what_came_while_the_scheduler_was_away() -> None:
    world = World(HOURLY + ", on_suspend: drain}", start="08:30")
    world.tick("08:30")
    world.arrive("09:10", "raw", "2026-03-09")
    world.suspend("10:30", "s")
    world.tick("10:30")

    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_a_change_while_the_scheduler_is_away_does_not_touch_the_fires_of_other_schedules() -> None:
    other = HOURLY.replace("s: {program", "t: {program") + "}"
    world = World(HOURLY + "}\n" + other, start="08:30")
    world.tick("08:30")
    world.suspend("10:30", "s")
    world.tick("11:30")

    assert world.only("t").launch is not None
    assert world.only("t").launch.scheduled_time == at("11:00")
    assert world.ledger("t").discarded == {"D-EXPIRED": 2}


@pytest.mark.parametrize("start", [None, "09:20"])
def test_a_success_whose_start_nobody_saw_is_a_run(start: str | None) -> None:
    world = World(
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}, constraints:"
        " [{since_last_run: {for: 1h, measured_from: start}}, {rate: {max: 1, per: 2h}}]}"
    )
    world.run("09:30", "q", "succeeded", "hand")
    if start is not None:
        # Its start is read later than its end.
        world.run(start, "q", "started", "hand")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")

    began = at(start or "09:30")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-LAST-RUN")
    with world.store.reading() as reader:
        assert reader.history(["a/q"])["a/q"].last_success_started == began
        assert reader.launches(["a/q"], at("00:00")) == {"a/q": (began,)}


def test_since_last_run_is_measured_from_the_latest_start() -> None:
    world = World(
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}, constraints:"
        " [{since_last_run: {for: 1h, measured_from: start}}]}"
    )
    world.run("08:00", "q", "started", "long")
    world.run("09:00", "q", "started", "short")
    world.run("09:10", "q", "succeeded", "short")
    world.run("09:30", "q", "succeeded", "long")
    world.arrive("09:40", "raw", "2026-03-09")
    world.tick("09:40")

    assert world.only("s").next_check_at == at("10:00")


def test_all_that_is_ready_at_an_instant_is_judged_in_launch_order_what_skips_too() -> None:
    world = World(
        "s: {program: q, status: active, priority: high, trigger: {partitions: {dataset: raw}},"
        " constraints: [{rate: {max: 1, per: 1h}}]}\n"
        "t: {program: q, status: active, priority: low, trigger: {partitions: {dataset: raw}},"
        " constraints: [{rate: {max: 1, per: 1h}}, {load: {gauge: cpu, max: 80, otherwise: skip}}]}"
    )
    world.report("09:00", cpu=90)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")

    # The job of high priority takes the place in the rate; so the other one waits for that.
    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    assert world.outcome("t") == ("PENDING_CONSTRAINT", "W-RATE")


def test_elapsed_does_not_fire_while_its_program_runs() -> None:
    world = World("s: {program: q, status: active, trigger: {elapsed: {for: 1h}}}", start="09:00")
    world.run("09:30", "q", "started", "hand")
    world.tick("10:00")
    world.tick("11:30")
    assert world.jobs("s") == ()
    world.run("12:00", "q", "succeeded", "hand")
    world.tick("12:59")
    assert world.jobs("s") == ()
    world.tick("13:00")
    assert world.only("s").opened_at == at("13:00")


def test_the_ledger_counts_an_event_once_for_each_job_that_dropped_it() -> None:
    world = World(
        "s: {program: q, for_each: day, status: active, trigger: {all: [{partitions: {dataset: raw, count: 2,"
        " distinct: false}}, {cron: '0 10 * * *'}], collect_within: 1h}}"
    )
    world.arrive("09:50", "raw", "2026-03-08", "2026-03-09")
    for clock in ("09:50", "10:00", "10:10", "10:20", "10:30", "10:40", "10:50", "11:00"):
        world.tick(clock)

    assert [world.job(job.id).reason for job in world.jobs("s")] == ["D-EXPIRED", "D-EXPIRED"]
    assert world.ledger("s").discarded == {"D-EXPIRED": 4}


def test_of_two_jobs_that_a_carried_change_leaves_open_the_older_one_is_filled_first() -> None:
    spec = (
        "s: {{program: q, status: active, on_update: carry, max_batch: {most}, constraints: [{{delay: 1d}}],"
        " trigger: {{partitions: {{dataset: raw, count: {count}}}}}}}"
    )
    world = World(spec.format(most=2, count=1))
    world.arrive("10:00", "raw", "2026-03-01", "2026-03-02", "2026-03-03")
    world.tick("10:00")
    world.redeploy("10:10", spec.format(most=3, count=3))
    for minute, day in enumerate(("04", "05", "06", "07")):
        world.arrive(f"10:2{minute}", "raw", f"2026-03-{day}")
    world.tick("10:30")

    with world.store.reading() as reader:
        deliveries = reader.deliveries([job.id for job in world.jobs("s")])
    assert [len(deliveries[job.id]) for job in world.jobs("s")] == [3, 3, 1]


def test_an_event_from_before_a_schedule_says_so_and_one_from_before_its_resume_too() -> None:
    world = World(
        "s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 9}}}", start="09:00"
    )
    world.tick("09:00")
    world.arrive("08:55", "raw", "2026-03-01")
    world.tick("09:01")
    assert world.ledger("s").discarded == {"D-UPDATED": 1}
    world.suspend("09:05", "s")
    world.resume("09:10", "s")
    world.arrive("09:07", "raw", "2026-03-02")
    world.tick("09:11")
    assert world.ledger("s").discarded == {"D-SUSPENDED": 1, "D-UPDATED": 1}
