"""Commands for jobs of schedules, on operations: refused, except that a waiting one by hand is cancelled."""

from collections.abc import Callable

import pytest

from tests.worlds.by import CLI
from tests.worlds.tables import TableWorld
from tests.worlds.world import at
from tidegate.scheduler.commands.by_hand.manual import cancel
from tidegate.scheduler.explain.work import dead_letters
from tidegate.scheduler.launch.dead_letter import requeue, retry
from tidegate.scheduler.launch.outbox import reject
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import Refused


def refused(world: TableWorld, command: Callable[..., object], job: Job) -> Refused:
    with world.store.transaction() as transaction, pytest.raises(Refused) as error:
        command(transaction, job.id, at("00:05"), by=CLI)
    return error.value


def test_what_a_policy_asks_for_is_neither_cancelled_nor_retried_nor_requeued() -> None:
    world = TableWorld(maintenance="auto_pools: {spark: 1}")
    world.found("00:00", "w.a.x", "w.a.y")
    world.poll("00:00")
    running, waiting = sorted(world.jobs(), key=lambda job: job.waiting)
    for command, job in ((cancel, running), (cancel, waiting), (retry, running), (requeue, running)):
        error = refused(world, command, job)
        assert error.message == (
            f"job {job.id} is rewrite_data_files of table {job.work.table}, by policy a/nightly"
        )
        assert f"tidegate maintenance run {job.work.table} --operation rewrite_data_files" in error.hint
        assert "`enabled: false`" in error.hint


def test_by_hand_it_is_cancelled_while_it_waits() -> None:
    world = TableWorld(maintenance="auto_pools: {spark: 1}")
    world.found("00:00", "w.a.x", "w.a.y")
    (running,), (waiting,) = world.by_hand("00:01", "w.a.x"), world.by_hand("00:02", "w.a.y")
    with world.store.transaction() as transaction:
        cancelled = cancel(transaction, waiting.id, at("00:03"), by=CLI)
    assert (cancelled.state, cancelled.reason) == (JobState.DISCARDED, Reason.D_CANCELLED)
    assert "maintenance run" in refused(world, cancel, running).hint
    world.launch("00:04")
    world.end_all("00:05")
    assert [job.state for job in world.jobs(waiting.id)] == [JobState.DISCARDED]


def test_one_without_a_run_is_not_a_dead_letter() -> None:
    world = TableWorld()
    world.found("00:00", "w.a.x")
    (job,) = world.by_hand("00:01", "w.a.x")
    with world.store.transaction() as transaction:
        reject(transaction, job.id, 1, "never", at("00:02"), final=True)
        assert dead_letters(transaction) == ()
    assert [each.reason for each in world.jobs(job.id)] == [Reason.F_LAUNCH]
