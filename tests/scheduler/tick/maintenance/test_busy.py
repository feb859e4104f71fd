"""Partitions that pipelines write: left out of a rewrite at its start, or the whole table waits."""

import pytest

from tests.worlds.tables import EXPIRE, HEAD, REWRITE, TableWorld, app_of
from tests.worlds.tables import store as store
from tests.worlds.world import at
from tidegate.scheduler.model.refused import MaintenanceRefused
from tidegate.scheduler.tick.maintenance import busy

OWN = "nightly: {tables: a/out, operations: {rewrite_data_files: {interval: 1h}, expire_snapshots: {}}}"
ONE = "nightly: {tables: a/out, operations: {rewrite_data_files: {interval: 1h}}}"
WHOLE = "nightly: {tables: a/whole, operations: {rewrite_data_files: {interval: 1h}}}"
FOLLOWS = "{program: p, status: active, trigger: {partitions: {dataset: raw}}, for_each: partition"
S = f"s: {FOLLOWS}}}"
NIGHT = f"s: {FOLLOWS}, constraints: [{{window: {{from: '20:00', to: '21:00'}}}}]}}"
"""Its jobs wait until the evening."""


THREE_DAYS = ("2026-03-06", "2026-03-07", "2026-03-08")


def world_of(policies=ONE, schedules=S, keys=THREE_DAYS, **rest) -> TableWorld:
    """A dataset with some partitions, before the first poll."""
    world = TableWorld(policies, schedules=schedules, **rest)
    world.arrive("00:00", "out", *keys)
    return world


@pytest.mark.parametrize("sentence", ["waits for its constraints", "is launched", "runs"])
def test_partitions_of_a_job_are_left_out(sentence, store):
    world = world_of(schedules=NIGHT if sentence == "waits for its constraints" else S, store=store)
    world.arrive("00:00", "raw", "2026-03-07", "2026-03-09")
    world.tick("00:00")
    if sentence == "runs":
        world.launch("00:00")
    (run,) = world.running()
    # Of those that are left out it has only the first.
    assert run.excluded == ("2026-03-07",)
    (job,) = world.jobs()
    assert job.launch.args["excluded"] == ["2026-03-07", "2026-03-09"]
    assert job.work.excluded == ("2026-03-07",)


def test_partitions_of_a_job_that_only_collects_are_not():
    both = "[{partitions: {dataset: raw}}, {partitions: {dataset: whole}}]"
    collects = f"s: {{program: p, status: active, trigger: {{all: {both}}}}}"
    world = world_of(schedules=collects)
    world.arrive("00:00", "raw", "2026-03-07")
    world.tick("00:00")
    assert world.running()[0].excluded == ()


def test_those_of_a_job_that_has_ended_are_free_again():
    world = world_of()
    world.arrive("00:00", "raw", "2026-03-07")
    world.tick("00:00")
    names = world.launch("00:00")
    world.end("00:10", names["a/out rewrite"])
    (job,) = world.pipeline_jobs("a/s")
    world.observe("00:20", job.id, "succeeded")
    world.tick("01:00")
    assert world.running()[0].excluded == ()


def test_what_is_left_out_is_fixed_at_the_start():
    world = world_of()
    world.poll("00:00")
    world.arrive("00:01", "raw", "2026-03-07")
    world.tick("00:01")
    assert world.running()[0].excluded == ()
    # A pipeline's job does not wait for maintenance.
    assert world.launch("00:01").keys() == {"a/s"}


def test_where_nothing_is_left_it_waits_and_other_operations_do_not():
    world = world_of(OWN, keys=("2026-03-07",))
    world.arrive("00:00", "raw", "2026-03-07")
    world.tick("00:00")
    assert [str(run.operation) for run in world.running()] == ["expire_snapshots"]
    assert world.waiting() == {"a/out rewrite": "M-BUSY"}
    world.end_all("00:00:30")
    assert world.reason("00:01", "a/out") == ("M-BUSY", None)
    assert world.tick("00:01").launched == ()
    world.arrive("00:01:30", "out", "2026-03-08")
    world.tick("00:02")
    assert [(run.operation, run.excluded) for run in world.running()] == [(REWRITE, ("2026-03-07",))]


def test_it_waits_also_where_the_table_has_no_partition_yet():
    world = world_of(keys=("2026-03-07",))
    world.deploy("00:00", ONE.replace("a/out", "a/raw"), schedules=S)
    world.poll("00:00")
    assert len(world.running()) == 1
    fresh = TableWorld(ONE, schedules=S)
    fresh.arrive("00:00", "raw", "2026-03-07")
    fresh.tick("00:00")
    assert fresh.waiting() == {"a/out rewrite": "M-BUSY"}


def test_a_dataset_without_partitions_is_one_partition():
    writes = "s: {program: w, status: active, trigger: {partitions: {dataset: raw}}}"
    world = TableWorld(WHOLE, schedules=writes)
    world.arrive("00:00", "whole")
    world.arrive("00:00", "raw", "2026-03-07")
    world.tick("00:00")
    assert world.waiting() == {"a/whole rewrite": "M-BUSY"}


def test_by_hand_it_is_refused_where_nothing_is_left():
    world = world_of(OWN, keys=("2026-03-07",), schedules=NIGHT)
    world.arrive("00:00", "raw", "2026-03-07")
    world.poll("00:00")
    world.end_all("00:01")
    with pytest.raises(MaintenanceRefused, match="pipelines write every partition of a/out") as found:
        world.by_hand("00:01:10", "a/out", REWRITE)
    assert found.value.code == "E-ACTIVE"
    assert world.by_hand("00:01:20", "a/out", EXPIRE)


def test_by_hand_it_leaves_out_what_pipelines_write():
    world = world_of(schedules=NIGHT)
    world.arrive("00:00", "raw", "2026-03-07")
    world.poll("00:00")
    world.end_all("00:01")
    (job,) = world.by_hand("00:02", "a/out")
    assert job.work.excluded == ("2026-03-07",)


def test_one_by_hand_that_waited_for_a_slot_may_wait_for_partitions_next():
    two = ONE.replace("a/out", "[a/out, w.a.x]")
    world = world_of(two, keys=("2026-03-07",), maintenance="auto_pools: {spark: 1}")
    world.deploy("00:00", ONE.replace("a/out", "w.a.x"), schedules=S, maintenance="auto_pools: {spark: 1}")
    world.found("00:00", "w.a.x")
    assert world.poll("00:00") == ["w.a.x rewrite"]
    world.deploy("00:00:05", two, schedules=S, maintenance="auto_pools: {spark: 1}")
    (job,) = world.by_hand("00:00:10", "a/out")
    assert job.reason == "W-CONCURRENCY"
    world.arrive("00:00:20", "raw", "2026-03-07")
    assert world.poll("00:00:20") == ["a/s"]
    world.end_all("00:00:30")
    world.tick("00:00:30")
    (job,) = world.jobs(job.id)
    assert (job.reason, job.blocked_on, job.next_check_at) == ("M-BUSY", None, at("00:01"))
    world.tick("00:01")
    assert world.jobs(job.id)[0].next_check_at == at("00:02")
    (writer,) = world.pipeline_jobs("a/s")
    world.observe("00:01:10", writer.id, "succeeded")
    assert world.poll("00:02") == ["a/out rewrite"]
    assert [entry.reason for entry in world.journal(job.id) if entry.kind == "waiting"] == [
        "W-CONCURRENCY",
        "M-BUSY",
    ]


def test_partitions_of_instances_are_left_out_once_they_are_due():
    tasks = "tasks:\n  t: {cycle: day, program: p, status: active, constraints: [{concurrency: {max: 1}}]}\n"
    world = TableWorld("", schedules="s: {program: q, trigger: {cron: '0 0 * * *'}}", start="1d 00:30")
    world.arrive("1d 00:30", "out", *(f"2026-03-{day}" for day in (10, 11, 12, 13)))
    world.deploy_apps("1d 00:31", app_of(ONE, head=HEAD + tasks))
    for clock in ("1d 00:31", "2d 00:30", "3d 00:30"):
        world.tick(clock)
        world.end_all(clock)
    assert [(job.state, job.instance.business_date) for job in world.pipeline_jobs("a/t")] == [
        ("PENDING_LAUNCH", "2026-03-11"),
        ("PENDING_CONSTRAINT", "2026-03-12"),
    ]
    assert [run.excluded for run in world.runs()] == [(), ("2026-03-11",), ("2026-03-11", "2026-03-12")]


def test_a_job_of_which_nothing_is_known_writes_the_whole_table(monkeypatch):
    def fails(*_):
        raise RuntimeError("a bug of ours")

    world = world_of(schedules=NIGHT)
    world.arrive("00:00", "raw", "2026-03-07")
    monkeypatch.setattr(busy, "plan_launch", fails)
    world.tick("00:00")
    assert world.waiting() == {"a/out rewrite": "M-BUSY"}


def test_jobs_that_write_other_datasets_or_none_hold_back_nothing():
    others = "; ".join(f"{name}: {{program: {name}, status: active}}" for name in "wq").split("; ")
    trigger = "trigger: {partitions: {dataset: raw}}, constraints: [{window: {from: '20:00', to: '21:00'}}]}"
    world = world_of(schedules="\n".join(other.replace("active}", f"active, {trigger}") for other in others))
    world.arrive("00:00", "raw", "2026-03-07")
    world.tick("00:00")
    assert len(world.pipeline_jobs("a/w") + world.pipeline_jobs("a/q")) == 2
    assert world.running()[0].excluded == ()


def test_a_running_job_of_a_deleted_schedule_still_writes_its_partitions():
    world = world_of()
    world.arrive("00:00", "raw", "2026-03-07")
    world.tick("00:00")
    world.launch("00:00")
    world.end_all("00:10")
    world.deploy("00:20", ONE)
    world.tick("01:00")
    assert world.running()[0].excluded == ("2026-03-07",)
