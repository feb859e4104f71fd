"""Jobs whose publish is withheld: they have failed with F-CHECK until a person releases it (rule 26)."""

import pytest

from tests.scheduler.decision.retried_runs import HEARS, Runs
from tests.worlds.samples import verdict
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import World, at
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.intake.published import observe_recovered
from tidegate.scheduler.launch.run_report import note_failure
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES, WithheldPublish
from tidegate.scheduler.model.work_of_job import work_of_commit

F_CHECK = ("FAILED", "F-CHECK")
SUCCEEDED = ("SUCCEEDED", None)
NULLS = verdict("a/out", "not_null_id", "3 of 9 rows", kind="not_null")


def withhold(world: World, clock: str, commit: str, token: int = 1) -> None:
    """A run of a job withholds its publish."""
    row = WithheldPublish(
        commit=commit, token=token, datasets=("a/out",), verdicts=(NULLS,), at=at(clock),
        job=work_of_commit(commit).job,
    )  # fmt: skip
    with world.store.transaction() as transaction:
        transaction.put_records(WITHHELD_PUBLISHES, [row])


def drop(world: World, commit: str) -> None:
    with world.store.transaction() as transaction:
        transaction.drop_records(WITHHELD_PUBLISHES, [commit])


def release(world: World, clock: str, commit: str) -> None:
    """A person releases a withheld publish, and a process finishes it."""
    drop(world, commit)
    with world.store.transaction() as transaction:
        observe_recovered(transaction, commit, at(clock))


@pytest.mark.parametrize("died", [False, True])
def test_a_job_with_a_withheld_publish_fails_with_f_check_and_gets_no_further_attempt(died):
    world = Runs(", retries: 3, constraints: [{concurrency: {max: 1}}]", HEARS)
    withhold(world, "10:59", world.only("s").id)
    world.ends("11:00", 1, died=died)
    world.tick("11:00")
    assert world.outcome("s") == F_CHECK
    assert world.only("s").detail == (
        f"commit {world.only('s').id} is withheld: check not_null_id of a/out: 3 of 9 rows"
        if died
        else "bad 1"
    )
    assert world.heard() == {"on_failure"}
    with world.store.reading() as reader:
        assert reader.slots(["program:a/q"]) == {"program:a/q": 0}
    world.tick("12:00")
    assert world.outcome("s") == F_CHECK
    assert world.ledger("s").failed == {"F-CHECK": 1}


def test_a_release_makes_the_job_successful_and_triggers_hear_of_it():
    world = Runs(", retries: 1", HEARS)
    job = world.only("s").id
    withhold(world, "10:59", job)
    world.ends("11:00", 1)
    world.tick("11:00")
    release(world, "11:30", job)
    release(world, "11:31", job)
    world.tick("11:31")
    assert world.outcome("s") == SUCCEEDED
    assert world.heard() == {"on_failure", "on_success"}
    assert world.only("s").detail == "a person released the withheld publish of run run1; bad 1"
    assert (world.ledger("s").succeeded, world.ledger("s").failed) == (1, {})
    (entry,) = [each for each in world.journal("s") if each.kind is EntryKind.RECOVERED]
    assert entry.data["released"]
    with world.store.reading() as present, store_at(present, at("11:15")).reading() as past:
        (said,) = explain(past, job, at("11:15"))
    assert said.headline.startswith("FAILED (F-CHECK: failed: a check of its rows failed")


def test_a_person_makes_a_further_attempt_that_is_judged_by_itself():
    world = Runs("")
    job = world.only("s").id
    withhold(world, "10:59", job)
    world.ends("11:00", 1)
    world.retry("11:10", job)
    world.tick("11:10")
    world.attempt("11:10", 2)
    world.ends("11:20", 2, died=True)
    world.tick("11:20")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-RETRY"), "this attempt has withheld nothing"
    world.tick("11:21")
    world.attempt("11:21", 3)
    withhold(world, "11:30", job, token=3)
    world.ends("11:31", 3, died=True)
    assert world.outcome("s") == F_CHECK


def test_a_release_while_a_further_attempt_runs_makes_its_failure_a_success():
    world = Runs("", HEARS)
    job = world.only("s").id
    withhold(world, "10:59", job)
    world.ends("11:00", 1)
    world.retry("11:10", job)
    world.tick("11:10")
    world.attempt("11:10", 2)
    release(world, "11:15", job)
    world.ends("11:20", 2)
    world.tick("11:20")
    assert world.outcome("s") == SUCCEEDED
    assert "on_success" in world.heard()


def test_what_is_abandoned_before_the_end_is_observed_leaves_f_check():
    world = Runs(", retries: 3")
    job = world.only("s").id
    withhold(world, "10:59", job)
    assert note_failure(world.store, job, 1, "run1", "withheld", at("10:59"), withheld=job)
    drop(world, job)
    world.run("11:00", "q", "failed", "run1", job, 1)
    assert world.outcome("s") == F_CHECK


def test_what_is_released_before_the_end_is_observed_succeeds():
    world = Runs(", retries: 3", HEARS)
    job = world.only("s").id
    withhold(world, "10:59", job)
    assert note_failure(world.store, job, 1, "run1", "withheld", at("10:59"), withheld=job)
    release(world, "10:59:30", job)
    world.run("11:00", "q", "failed", "run1", job, 1)
    world.tick("11:00")
    assert world.outcome("s") == SUCCEEDED
    assert world.heard() == {"on_success"}


def test_a_run_that_was_cancelled_after_it_withheld_its_publish_has_failed():
    world = Runs("", HEARS)
    job = world.only("s").id
    withhold(world, "10:59", job)
    world.ends("11:00", 1, "cancelled")
    assert world.outcome("s") == F_CHECK
    release(world, "11:01", job)
    assert world.outcome("s") == SUCCEEDED


DAILY = """
  t: {program: q, cycle: day, status: active}
  after: {program: r, cycle: day, status: active, depends_on: [t]}
"""
KEY = "2026-03-10"


def failed_instance() -> tuple[TaskWorld, str]:
    """A world with an instance whose publish is withheld, and another one that depends on it."""
    world = TaskWorld(DAILY)
    world.tick("00:00")
    (job,) = world.launch_all("00:00")
    withhold(world, "00:09", job)
    world.end("00:10", job, "failed")
    world.tick("00:10")
    return world, job


def state_of(world: TaskWorld, task: str) -> tuple[str, str | None]:
    job = world.instance(task, KEY)
    return job.state, job.reason


def test_an_instance_fails_and_gates_until_it_is_released():
    world, job = failed_instance()
    assert state_of(world, "t") == F_CHECK
    assert state_of(world, "after") == ("PENDING_TRIGGER", "W-UPSTREAM")
    release(world, "00:20", job)
    world.tick("00:20")
    assert state_of(world, "t") == SUCCEEDED
    assert state_of(world, "after") == ("PENDING_LAUNCH", None)


def test_an_instance_that_is_run_again_is_not_ended_by_the_release_of_its_earlier_run():
    world, job = failed_instance()
    world.act("00:20", "t", KEY, Action.RERUN)
    world.tick("00:20")
    release(world, "00:21", job)
    world.tick("00:21")
    assert state_of(world, "t") == ("PENDING_LAUNCH", None)
    world.launch_all("00:21")
    world.end("00:30", job, "failed")
    assert state_of(world, "t") == ("FAILED", "F-RUN")


def test_an_instance_that_is_marked_stays_so_when_the_publish_is_released():
    world, job = failed_instance()
    world.act("00:20", "t", KEY, Action.MARK_SUCCESSFUL)
    release(world, "00:21", job)
    world.tick("00:21")
    assert state_of(world, "t") == SUCCEEDED
    assert world.instance("t", KEY).of_task.marked


def test_a_withheld_publish_stops_the_later_lots_of_a_backfill_until_it_is_released():
    world = TaskWorld("\n  t: {program: q, cycle: day, status: active, depends_on: [self]}\n", start="00:00")
    world.backfill("00:00", "t", "2026-03-07", "2026-03-08")
    world.tick("00:01")
    first = world.instance("t", "2026-03-08", 1).id
    assert first in world.launch_all("00:01")
    withhold(world, "00:02", first)
    world.end("00:03", first, "failed")
    world.tick("00:03")
    assert world.launch_all("00:03") == []
    release(world, "00:04", first)
    world.tick("00:04")
    assert world.launch_all("00:04") == [world.instance("t", "2026-03-09", 1).id]
