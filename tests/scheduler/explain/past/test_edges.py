"""`why --at` at the edges of what a journal tells: deployments, deletions, errors, and its beginning."""

import msgspec
import pytest

from tests.doubles.reference.store import ReferenceStore
from tests.scheduler.explain.past.test_past import assert_recalled
from tests.worlds.by import CLI
from tests.worlds.witness import Witness
from tests.worlds.world import World, at
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.launch.outbox import reject
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.model.refused import Refused


def test_before_it_was_deployed_there_was_nothing():
    world = Witness("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.redeploy("10:00", "t: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    with pytest.raises(Refused, match="no schedule a/t is deployed"):
        world.recalled(at("09:00"), "a/t")
    with pytest.raises(Refused, match="no schedule a/s is deployed"):
        world.recalled(at("11:00"), "a/s")
    assert world.recalled(at("09:00"), "a/s")[0]["status"] == "active"


def test_what_happened_later_is_not_known_then():
    world = Witness("s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    world.arrive("10:05", "raw", "2026-03-02")
    world.tick("10:05")
    (found,) = world.recalled(at("10:04"), "a/s")
    assert (found["headline"], found["trigger"]["summary"]) == (
        "W-TRIGGER: the trigger is not satisfied yet",
        "1 of 2 new partitions of raw",
    )


def test_a_run_that_ends_after_its_schedule_was_deleted():
    world = Witness("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    (job,) = world.launch_all("10:01")
    world.redeploy("10:05", "t: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.tick("10:05")
    world.end("10:10", job)
    world.tick("10:11")
    (found,) = world.recalled(at("10:11"), job)
    assert (found["status"], found["headline"]) == ("deleted", f"SUCCEEDED, run run-{job}")
    assert_recalled(world)


def test_a_launch_that_could_not_be_asked_for():
    world = Witness("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    (request,) = world.offer_launches("10:01")
    with world.store.transaction() as transaction:
        reject(transaction, request.job, 1, "no such partition", at("10:02"))
    world.tick("10:03")
    assert world.recalled(at("10:03"), request.job)[0]["headline"] == (
        "PENDING_LAUNCH: its run was asked for once; the last request was rejected: no such partition"
    )
    assert_recalled(world)


def test_a_launch_of_which_an_offer_may_have_arrived_held_its_slots():
    world = Witness("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    world.offer_launches("10:01")
    (request,) = world.offer_launches("10:02")
    with world.store.transaction() as transaction:
        reject(transaction, request.job, 1, "no such partition", at("10:02"))
    with world.store.reading() as reader:
        past = store_at(reader, at("10:02"))
    with past.reading() as reader, world.store.reading() as now:
        assert reader.slots(["program:a/q"]) == now.slots(["program:a/q"]) == {"program:a/q": 1}


def test_an_app_that_goes_leaves_its_jobs_and_nothing_else():
    world = Witness("s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    job = world.only("s").id
    with world.store.transaction() as transaction:
        deploy(transaction, {}, at("10:05"), by=CLI)
    world.tick("10:05")
    (found,) = world.recalled(at("10:05"), job)
    assert (found["status"], found["job"]["reason"]) == ("deleted", "D-DELETED")
    with world.store.reading() as reader:
        past = store_at(reader, at("10:05"))
    with past.reading() as reader:
        assert (reader.records(APPS), reader.schedules()) == ((), ())


def test_a_decision_that_raised_an_error_left_its_line():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    job = world.only("s")
    line = Entry(
        at=at("10:01"),
        kind=EntryKind.WAITING,
        schedule="a/s",
        job=job.id,
        reason=job.reason,
        data={"error": "a/s: ValueError: a bug"},
    )
    with world.store.transaction() as transaction:
        transaction.add_journal([line])
    with world.store.reading() as reader:
        past = store_at(reader, at("10:01"))
    with past.reading() as reader:
        (found,) = reader.jobs(ids=[job.id])
    assert (found.state, found.detail) == ("PENDING_TRIGGER", "a/s: ValueError: a bug")


def test_what_is_told_of_a_job_that_is_over_changes_nothing():
    world = World("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    (job,) = world.launch_all("10:01")
    world.end("10:02", job)
    world.end("10:03", job, "failed")
    with world.store.reading() as reader:
        late = [
            msgspec.structs.replace(e, at=at("10:04")) for e in reader.journal(job=job) if e.kind == "run"
        ]
    with world.store.transaction() as transaction:
        transaction.add_journal(late)
    with world.store.reading() as reader:
        past = store_at(reader, at("10:05"))
    with past.reading() as reader:
        (found,) = reader.jobs(ids=[job])
    assert (found.state, found.ended_at) == ("SUCCEEDED", at("10:02"))


def test_a_journal_that_begins_later_than_its_schedule_tells_nothing_of_it():
    world = Witness("s: {program: q, status: active, trigger: {partitions: {dataset: raw, count: 2}}}")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    begun = ReferenceStore()
    with world.store.reading() as reader, begun.transaction() as transaction:
        transaction.add_journal([entry for entry in reader.journal() if entry.kind is not EntryKind.SPEC])
    with begun.reading() as reader:
        past = store_at(reader, at("10:00"))
    with past.reading() as reader, pytest.raises(Refused, match="no schedule a/s is deployed"):
        explain(reader, "a/s", at("10:00"))


def test_commits_that_a_person_changes_change_no_past():
    world = Witness("s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}")
    world.arrive("10:00", "raw", "2026-03-01")
    world.tick("10:00")
    (job,) = world.launch_all("10:01")
    world.end("10:10", job)
    world.tick("10:11")
    before = world.recalled(at("10:30"), job)[0]["headline"], world.recalled(at("10:30"), "a/s")
    with world.store.transaction() as transaction:
        for kind, of_job in (
            (EntryKind.COMMIT, job),
            (EntryKind.COMMIT, "gone"),
            (EntryKind.WATERMARK, None),
        ):
            data = {"action": "recover", "commit": of_job or "", "by": "cli:ada"}
            entry = Entry(at=at("10:20"), kind=kind, schedule="a/s", job=of_job, data=data)
            transaction.add_journal([entry])
    assert (world.recalled(at("10:30"), job)[0]["headline"], world.recalled(at("10:30"), "a/s")) == before
    assert_recalled(world)
