"""What random histories of cycle tasks have found, each in the few steps that it takes."""

from collections.abc import Mapping, Sequence
from unittest.mock import patch

import pytest

from tests.worlds.by import CLI
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import at
from tidegate.scheduler.commands.deployment.schedules import delete_schedules
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.decision.view.upstream import Upstream
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.tick import rerun
from tidegate.scheduler.tick.upstream import Rows, load_upstream

DAY = "2026-03-10"
HOURS = "  hours: {type: source, dataset: raw, cycle: hour, status: active}\n"
AFTERNOON = (
    '  hours: {{program: q, cycle: hour, at: {{from: "12:00", to: "17:00"}}, timezone: {}, status: active}}\n'
)
CHAIN = """
  feed: {type: source, dataset: raw, cycle: day, update: outside, status: active}
  daily: {program: q, cycle: day, depends_on: [feed], status: active}
  after_daily: {program: r, cycle: day, depends_on: [daily], status: active}
  last: {program: q, cycle: day, depends_on: [after_daily], status: active}
"""
SELF = "  hours: {program: q, cycle: hour, depends_on: [self], status: active}\n"


@pytest.mark.parametrize(("back", "made"), [("21:59", 2), ("22:00", 2), ("22:01", 1), ("23:01", 0)])
def test_what_is_just_young_enough_at_a_late_return_is_made(back: str, made: int) -> None:
    world = TaskWorld(HOURS)
    world.tick("00:00")

    # Two days earlier are the last hours of the eleventh.
    world.tick(f"3d {back}")

    oldest = [job.key for job in world.jobs("hours") if job.key.startswith("2026-03-11")]
    assert len(oldest) == made


def run_all(world: TaskWorld, clock: str) -> None:
    world.tick(clock)
    while started := world.launch_all(clock):
        for job in started:
            world.end(clock, job)
        world.tick(clock)


def test_a_rerun_with_downstream_leaves_what_deleted_tasks_have_done() -> None:
    world = TaskWorld(CHAIN)
    world.reported("01:00", "feed", DAY)
    run_all(world, "01:00")
    with world.store.transaction() as transaction:
        delete_schedules(transaction, ["a/after_daily"], at("02:00"), force=True, by=CLI)
    before = [world.instance(task, DAY) for task in ("after_daily", "last")]

    changed = world.act("03:00", "feed", DAY, Action.RERUN, downstream=True)
    world.tick("03:00")

    assert [job.schedule for job in changed] == ["a/feed", "a/daily"]
    assert [world.instance(task, DAY) for task in ("after_daily", "last")] == before


def test_a_rerun_with_downstream_does_not_stop_a_run_of_a_deleted_task() -> None:
    world = TaskWorld(CHAIN)
    world.reported("01:00", "feed", DAY)
    world.tick("01:00")
    (daily,) = world.launch_all("01:00")
    with world.store.transaction() as transaction:
        delete_schedules(transaction, ["a/daily"], at("02:00"), force=True, by=CLI)

    world.act("03:00", "feed", DAY, Action.RERUN, downstream=True)
    world.tick("03:00")
    world.end("03:01", daily)

    assert world.job(daily).state == "SUCCEEDED"


def test_each_name_is_one_job_where_a_task_changes_its_zone() -> None:
    world = TaskWorld(AFTERNOON.format("UTC"), start="10:00")
    before = {job.key: job.id for job in world.jobs("hours")}
    world.redeploy("10:00", AFTERNOON.format("America/New_York"))

    found = [job for job in world.jobs("hours") if job.state != "DISCARDED"]

    assert {job.key: job.id for job in found} == before
    assert {job.of_task.scheduled for job in found} == {at(f"{hour}:00") for hour in range(16, 22)}


def test_a_chain_of_self_looks_up_each_of_its_instances_once() -> None:
    world = TaskWorld(SELF)
    world.tick("12:00")
    for hour in range(13):
        world.act("12:00", "hours", f"{DAY}-{hour:02}:00", Action.MARK_SUCCESSFUL)
    asked: list[str] = []

    def counting(
        rows: Rows, jobs: Sequence[Job], states: Mapping[str, ScheduleState]
    ) -> dict[str, tuple[Upstream, ...]]:
        asked.extend(job.id for job in jobs)
        return load_upstream(rows, jobs, states)

    with patch.object(rerun, "load_upstream", counting):
        changed = world.act("12:00", "hours", f"{DAY}-00:00", Action.RERUN, downstream=True)

    assert len(changed) == 13
    assert len(asked) == len(set(asked))


OF_DATASET = "  feed: {{type: source, dataset: {}, cycle: day, update: outside, status: active}}\n"
ORIGINS = ("EWR", "JFK", "LGA")


@pytest.mark.parametrize(("before", "after", "first"), [("raw", "chunks", ""), ("chunks", "raw", "|EWR")])
def test_a_source_that_takes_another_dataset_counts_the_data_of_this_one(
    before: str, after: str, first: str
) -> None:
    world = TaskWorld(OF_DATASET.format(before), start="10:00")
    world.arrive("10:01", before, f"{DAY}{first}")
    world.tick("10:01")
    world.redeploy("10:02", OF_DATASET.format(after))
    world.tick("1d 01:00")
    assert world.instance("feed", "2026-03-11").reason == "W-REPORT"

    world.arrive("1d 01:01", after, *([DAY] if after == "raw" else [f"{DAY}|{each}" for each in ORIGINS]))
    world.tick("1d 01:01")

    assert world.instance("feed", "2026-03-11").state == "SUCCEEDED"
