"""`why --at` where a snapshot cannot say it all: renames after it, and jobs that it does not hold."""

from datetime import datetime, timedelta

import msgspec
import pytest

from tests.scheduler.explain.past.test_snapshots import (
    ALL,
    RAW,
    Snapped,
    SnappedTasks,
    with_a_job_ended,
    with_a_retried_job,
)
from tests.scheduler.explain.past.test_tasks import DAYS
from tests.worlds.by import CLI
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import DATASETS, app_of, at
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.retention.prune import prune

FIVE_MINUTES = msgspec.structs.replace(ALL, journal=timedelta(minutes=5))


def rename(world: Snapped, clock: str) -> None:
    """The app `a` becomes `b`."""
    renamed = app_of(RAW, DATASETS.replace("app: a", "app: b\nrenamed_from: a"))
    with world.store.transaction() as transaction:
        deploy(transaction, {"b": renamed}, at(clock), by=CLI)


def jobs_at(world: Snapped, instant: datetime, *ids: str) -> tuple[Job, ...]:
    with world.store.reading() as reader, store_at(reader, instant).reading() as then:
        return then.jobs(ids=ids)


def test_the_journal_is_read_from_its_beginning_if_an_app_was_renamed_after_the_snapshot():
    world, job = with_a_job_ended("succeeded")
    rename(world, "10:10")

    for clock, state in (("10:01", "LAUNCHED"), ("10:05", "SUCCEEDED"), ("10:15", "SUCCEEDED")):
        (found,) = jobs_at(world, at(clock), job)
        assert (found.schedule, found.state) == ("b/s", state)


def test_what_was_before_a_rename_is_refused_if_the_journal_was_pruned():
    world, _ = with_a_job_ended("succeeded")
    world.tick("10:20")
    world.snap("10:20", FIVE_MINUTES)
    rename(world, "10:30")

    with world.store.reading() as reader, pytest.raises(Refused) as refused:
        store_at(reader, at("10:25"))
    assert "nothing is known of 2026-03-10 10:25" in str(refused.value)
    assert "was pruned, and apps were renamed at 2026-03-10 10:30" in str(refused.value)
    assert "ask after the next `tidegate store prune`" in str(refused.value)


def test_a_snapshot_is_taken_after_a_rename_so_that_what_follows_is_known():
    world, job = with_a_job_ended("succeeded")
    world.tick("10:20")
    world.snap("10:20", FIVE_MINUTES)
    rename(world, "10:30")
    world.tick("10:31")
    with world.store.transaction() as transaction:
        taken = len(transaction.snapshots())
    world.tick("10:33")
    prune(world.store, FIVE_MINUTES, at("10:33"))

    with world.store.reading() as reader:
        assert len(reader.snapshots()) == taken + 1
        with pytest.raises(Refused, match="ask for 2026-03-10 10:33"):
            store_at(reader, at("10:31"))
    (found,) = jobs_at(world, at("10:34"), job)
    assert (found.schedule, found.state) == ("b/s", "SUCCEEDED")


def test_a_job_whose_beginning_was_pruned_begins_with_its_retry():
    world, job = with_a_retried_job()
    assert world.offer_launches("10:07")
    assert world.claim("10:07", job, "run-2", 2).won
    world.run("10:08", "q", "started", "run-2", job, 2)
    world.run("10:09", "q", "succeeded", "run-2", job, 2)
    world.tick("10:10")
    world.snap("10:10", FIVE_MINUTES)

    with world.store.reading() as reader, store_at(reader, at("10:06")).reading() as then:
        (found,) = then.jobs(apps=["a"])
        assert (found.id, found.state) == (job, "PENDING_LAUNCH")
        assert then.deliveries([job]).get(job, ()) == ()


def live_days(world: TaskWorld) -> None:
    """On each of six days, all instances that are due succeed."""
    for day in range(1, 7):
        world.tick(f"{day}d 00:05")
        for job in world.launch_all(f"{day}d 00:06"):
            world.end(f"{day}d 00:07", job)
        world.tick(f"{day}d 00:08")


def with_an_old_rerun() -> tuple[SnappedTasks, Job]:
    """Six days with a snapshot at the end, after which the oldest instance is run again."""
    world = SnappedTasks(DAYS, 1_000)
    live_days(world)
    world.snap("6d 00:08")
    old = min(world.jobs("day", JobState.SUCCEEDED), key=lambda job: job.key)
    world.act("6d 01:00", "day", old.key, Action.RERUN)
    world.tick("6d 01:01")
    return world, old


def test_an_old_instance_that_is_rerun_after_the_snapshot():
    world, old = with_an_old_rerun()

    (before,) = jobs_at(world, at("6d 00:30"), old.id)
    (after,) = jobs_at(world, at("6d 01:01"), old.id)
    assert (before.state, before.ended_at, before.key) == ("SUCCEEDED", old.ended_at, old.key)
    present = world.job(old.id)
    assert (after.state, after.ended_at, after.instance) == (
        present.state,
        present.ended_at,
        present.instance,
    )
    world.assert_recalled()


def test_an_old_instance_that_was_rerun_is_found_after_its_task_was_deleted():
    world, old = with_an_old_rerun()
    world.redeploy("6d 01:10", DAYS.replace("day:", "other:"))
    world.tick("6d 01:11")

    (found,) = jobs_at(world, at("6d 00:30"), old.id)
    assert (found.id, found.schedule, found.key) == (old.id, old.schedule, old.key)
    assert (found.state, found.ended_at) == ("SUCCEEDED", old.ended_at), "as it was then"
