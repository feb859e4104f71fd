"""Jobs whose publish another process than their run has finished: they have succeeded (rule 26)."""

import pytest

from tests.doubles.dump import dump
from tests.scheduler.decision.retried_runs import HEARS, WAITS, Runs
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import World, at
from tidegate.domain.published import PartitionFact
from tidegate.scheduler.decision.instances.actions import Action
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.intake.published import PublishedEvents, observe_recovered
from tidegate.scheduler.model.journal import EntryKind

SUCCEEDED = ("SUCCEEDED", None)


def recover(world: World, clock: str, commit: str = "") -> None:
    """Recovery says that it has finished the commit of the job of `s`."""
    with world.store.transaction() as transaction:
        observe_recovered(transaction, commit or world.only("s").id, at(clock))


def test_a_job_that_waits_for_its_next_attempt_succeeds_without_it():
    world = Runs("", HEARS)
    world.ends("11:00", 1, died=True)
    world.tick("11:00")
    assert world.outcome("s") == WAITS
    recover(world, "11:00:05")
    job = world.only("s")
    assert (job.state, job.reason, job.run_id, job.ended_at) == (*SUCCEEDED, "run1", at("11:00:05"))
    world.tick("11:10")
    assert world.outcome("s") == SUCCEEDED
    assert [each.schedule for each in world.offer_launches("11:10")] == ["a/on_success"]
    assert world.heard() == {"on_success"}
    (upstream,) = world.only("on_success").launch.upstream
    assert (upstream.id, upstream.status) == ("run1", "succeeded")
    assert (world.ledger("s").succeeded, world.ledger("s").failed) == (1, {})


def test_a_job_that_has_failed_for_good_succeeds_late():
    world = Runs(", retries: 0", HEARS)
    world.ends("11:00", 1, died=True)
    world.tick("11:00")
    assert world.outcome("s") == ("FAILED", "F-RUN")
    recover(world, "11:01")
    world.tick("11:01")
    assert world.outcome("s") == SUCCEEDED
    assert world.heard() == {"on_failure", "on_success"}


def test_a_job_that_was_given_up_before_its_next_attempt_succeeds():
    world = Runs(", retries: {max: 1, wait: 1h}", HEARS)
    world.ends("11:00", 1)
    world.suspend("11:01", "s")
    assert world.outcome("s") == ("FAILED", "D-SUSPENDED")
    recover(world, "11:02")
    assert world.outcome("s") == SUCCEEDED


def test_a_decided_launch_is_taken_back_with_its_slots_and_its_place_in_rates():
    world = Runs(", retries: 1, constraints: [{concurrency: {max: 1}}, {rate: {max: 2, per: 1d}}]")
    world.ends("11:00", 1)
    assert world.waits("11:00") == ("PENDING_LAUNCH", None)
    (request,) = world.offer_launches("11:00")
    recover(world, "11:01")
    assert world.outcome("s") == SUCCEEDED
    with world.store.reading() as reader:
        assert reader.slots(["program:a/q"]) == {"program:a/q": 0}
        assert len(reader.launches(["a/q"], at("00:00"))["a/q"]) == 1
    refused = world.claim("11:02", request.job, "run2", 2)
    assert (refused.won, refused.refusal) == (False, "the job is SUCCEEDED (None)")


def test_a_run_goes_on_and_its_failure_is_a_success():
    world = Runs("", HEARS)
    recover(world, "10:30")
    assert world.outcome("s") == ("LAUNCHED", None)
    with world.store.reading() as reader:
        assert reader.slots(["program:a/q"]) == {"program:a/q": 1}
    world.ends("11:00", 1, died=True)
    world.run("11:05", "q", "failed", "run1", world.only("s").id, 1, died=True)
    world.tick("11:05")
    assert world.outcome("s") == SUCCEEDED
    assert world.heard() == {"on_success"}
    assert world.offer_launches("11:05")[0].schedule == "a/on_success"


def test_a_run_that_reports_its_own_end_is_not_touched():
    world = Runs("", HEARS)
    recover(world, "10:30")
    world.ends("11:00", 1, "succeeded")
    world.tick("11:00")
    assert (world.only("s").state, world.only("s").detail) == ("SUCCEEDED", "")
    assert world.heard() == {"on_success"}


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_cancelled_run_stays_cancelled(when):
    world = Runs("", HEARS)
    if when == "before":
        recover(world, "10:30")
    world.ends("11:00", 1, "cancelled")
    recover(world, "11:01")
    world.tick("11:01")
    assert world.outcome("s") == ("FAILED", "F-CANCELLED")
    assert world.heard() == set()


def test_a_cancelled_job_that_a_person_retries_is_left_to_its_next_run():
    world = Runs("")
    world.ends("11:00", 1, "cancelled")
    world.retry("11:01", world.only("s").id)
    recover(world, "11:02")
    assert world.waits("11:02") == ("PENDING_LAUNCH", None)


@pytest.mark.parametrize("commit", ["run-by-hand.a.q", "a.s-0123456789ab"])
def test_a_commit_without_a_job_changes_nothing(commit):
    world = Runs("")
    before = dump(world.store)
    recover(world, "10:30", commit)
    assert dump(world.store) == before


def test_the_successor_of_an_abandoned_commit_belongs_to_the_same_job():
    world = Runs("")
    world.ends("11:00", 1, died=True)
    recover(world, "11:01", f"{world.only('s').id}~2")
    assert world.outcome("s") == SUCCEEDED


def test_a_second_report_changes_nothing():
    world = Runs("")
    world.ends("11:00", 1, died=True)
    recover(world, "11:01")
    before = dump(world.store)
    recover(world, "11:02")
    assert dump(world.store) == before


def test_a_job_that_nobody_ran_is_not_said_to_have_succeeded():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    recover(world, "10:01")
    assert world.outcome("s") == ("PENDING_TRIGGER", "W-TRIGGER")


def test_a_tick_that_is_due_before_comes_before():
    world = Runs(", retries: {max: 1, wait: 1m}")
    world.ends("11:00", 1)
    world.tick("11:00")
    recover(world, "11:01:30")
    with world.store.reading() as reader:
        kinds = [entry.kind for entry in reader.journal(job=world.only("s").id)]
    assert kinds[-2:] == [EntryKind.LAUNCH, EntryKind.RECOVERED]
    assert world.outcome("s") == SUCCEEDED


def test_recovery_reports_through_the_events_of_the_publish():
    world = Runs("")
    world.ends("11:00", 1, died=True)
    events = PublishedEvents(lambda: world.store, lambda: at("11:01"))
    events.report(world.only("s").id, [PartitionFact(dataset="a/out", key="2026-03-09", rows=1, bytes=1)])
    events.record_finished(world.only("s").id)
    assert world.outcome("s") == SUCCEEDED


def test_why_says_who_finished_it():
    world = Runs("")
    job = world.only("s").id
    world.ends("11:00", 1)
    world.tick("11:00")
    recover(world, "11:01")
    with world.store.reading() as reader:
        (said,) = explain(reader, job, at("11:02"))
    assert said.headline == "SUCCEEDED, run run1; recovery finished the publish of run run1; bad 1"
    assert [entry.kind for entry in said.history][-1] is EntryKind.RECOVERED


def test_the_past_is_the_same():
    world = Runs(", retries: 1, constraints: [{concurrency: {max: 1}}]")
    world.ends("11:00", 1)
    world.tick("11:00")
    world.tick("11:01")
    recover(world, "11:02")
    (wanted,) = dump(world.store)["jobs"]
    with world.store.reading() as present, store_at(present, at("11:03")).reading() as past:
        (job,) = past.jobs()
        assert past.slots(["program:a/q"]) == {"program:a/q": 0}
    for name in ("state", "reason", "attempt", "retried", "retry_at", "recovered", "detail", "run_id"):
        assert getattr(job, name) == wanted[name], name
    with world.store.reading() as present, store_at(present, at("11:01")).reading() as past:
        (job,) = past.jobs()
        assert (job.state, past.slots(["program:a/q"])) == ("PENDING_LAUNCH", {"program:a/q": 1})


def test_the_past_of_a_job_that_waited_for_its_next_attempt_is_the_same():
    world = Runs("")
    world.ends("11:00", 1, died=True)
    world.tick("11:00")
    recover(world, "11:00:05")
    (wanted,) = dump(world.store)["jobs"]
    with world.store.reading() as present, store_at(present, at("11:01")).reading() as past:
        (job,) = past.jobs()
    assert (job.state, job.run_id) == (wanted["state"], wanted["run_id"]) == ("SUCCEEDED", "run1")


def test_what_an_instance_published_before_it_was_run_again_does_not_end_its_next_run():
    """A commit of its first run is finished late: that one has no effect, the one of its last run has."""
    world = TaskWorld("\n  t: {program: q, cycle: day, status: active}\n")
    world.tick("00:00")
    (job,) = world.launch_all("00:00")
    world.act("00:10", "t", "2026-03-10", Action.PAUSE)
    recover_instance(world, "00:11", job)
    assert world.job(job).state == "PAUSED"
    world.act("00:12", "t", "2026-03-10", Action.RESUME)
    world.tick("00:12")
    world.launch_all("00:12")
    recover_instance(world, "00:13", job)
    assert not world.job(job).recovered
    world.end("00:14", job, "failed")
    recover_instance(world, "00:15", f"{job}~2")
    assert world.job(job).state == "FAILED"

    recover_instance(world, "00:16", f"{job}.r2~3")

    assert (world.job(job).state, world.job(job).attempt) == ("SUCCEEDED", 2)


def recover_instance(world: TaskWorld, clock: str, commit: str) -> None:
    with world.store.transaction() as transaction:
        observe_recovered(transaction, commit, at(clock))
