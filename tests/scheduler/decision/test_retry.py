"""A failed job that a person tries again: the same work under the same commit, as a further attempt."""

import msgspec
import pytest

from tests.doubles.dump import dump
from tests.worlds.world import World, at
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.launch.outbox import OFFERS_MAX
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.refused import Refused

S = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}"


def failed(rest: str = "", status: str = "failed") -> World:
    """A job whose run failed at eleven."""
    world = World(f"{S}{rest}}}")
    world.arrive("10:00", "raw", "2026-03-08", "2026-03-09")
    world.tick("10:00")
    (job,) = world.launch_all("10:00")
    world.end("11:00", job, status)
    return world


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_it_is_launched_with_the_same_plan_as_a_further_attempt(status):
    world = failed(", args: {x: 1}", status)
    job = world.only("s")
    world.redeploy("11:30", f"{S}, args: {{x: 2}}}}")

    assert world.ledger("s").failed == {str(job.reason): 2}
    again = world.retry("12:00", job.id)
    assert (world.ledger("s").pending, world.ledger("s").failed) == (2, {})
    world.tick("12:00")
    (request,) = world.offer_launches("12:00")

    assert (again.state, again.run_id) == ("PENDING_CONSTRAINT", None)
    assert (request.job, request.attempt, request.run_key) == (job.id, 2, f"{job.id}:2")
    assert request.launch == job.launch
    assert world.claim("12:01", job.id, "second", attempt=2).won
    assert world.ledger("s").running == 2
    world.run("12:02", "q", "succeeded", "second", job.id, attempt=2)
    assert world.outcome("s") == ("SUCCEEDED", None)
    assert (world.ledger("s").succeeded, world.ledger("s").failed) == (2, {})


def test_the_constraints_hold_it_back():
    world = failed(", constraints: [{concurrency: {max: 1}}]")
    world.run("11:30", "q", "started", "by hand")
    world.retry("12:00", world.only("s").id)
    world.tick("12:00")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    with world.store.reading() as reader:
        (found,) = explain(reader, "a/s", at("12:00"))
    assert "; attempt 2 comes next, run run-" in found.headline
    assert "attempt 2 of" not in found.headline


def test_the_run_that_failed_can_say_nothing_more():
    world = failed()
    job = world.only("s")
    world.retry("12:00", job.id)
    world.tick("12:00")
    world.run("12:01", "q", "succeeded", job.run_id, job.id)
    assert "attempt 1 is over" in world.claim("12:01", job.id, job.run_id).refusal
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_the_past_shows_the_same_launch():
    world = failed(", constraints: [{rate: {max: 5, per: 1d}}]")
    world.retry("12:00", world.only("s").id)
    world.tick("12:00")
    with world.store.reading() as present, store_at(present, at("12:00")).reading() as past:
        (now,), (then,) = present.jobs(), past.jobs()
        assert present.launches(["a/q"], at("00:00")) == past.launches(["a/q"], at("00:00"))
    assert then.launch is not None and now.launch is not None
    for name in ("program", "partitions", "manifest", "args"):
        assert getattr(then.launch, name) == getattr(now.launch, name)
    books = {"next_check_at": then.next_check_at, "closed": then.closed, "launch": then.launch}
    assert then == msgspec.structs.replace(now, **books)


def test_a_dead_letter_is_queued_again():
    world = World(f"{S}}}")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    for offer in range(OFFERS_MAX + 1):
        world.offer_launches(f"{11 + offer}:00")
    world.retry("19:00", world.only("s").id)
    (entry,) = [entry for entry in world.journal("s") if entry.kind is EntryKind.MANUAL]
    assert entry.data == {"action": "requeue", "key": "", "attempt": 2, "by": "cli"}


def redeployed(schedules: str) -> World:
    world = failed()
    world.redeploy("11:30", schedules)
    return world


REFUSED = [
    ("an unknown job", failed, "none", "there is no job none"),
    (
        "a schedule that is deleted",
        lambda: redeployed("{}"),
        None,
        "its schedule a/s is not deployed",
    ),
    (
        "a schedule that runs another program",
        lambda: redeployed(f"{S}}}".replace("program: q", "program: r")),
        None,
        "ran q; its schedule a/s runs r now",
    ),
    (
        "a job that succeeded",
        lambda: failed(status="succeeded"),
        None,
        "is SUCCEEDED and cannot be retried",
    ),
]


@pytest.mark.parametrize(("sentence", "given", "job", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused(sentence, given, job, message):
    world = given()
    with world.store.reading() as reader:
        target = job or reader.jobs()[0].id
    before = dump(world.store)
    with pytest.raises(Refused, match=message) as refusal:
        world.retry("12:00", target)
    assert refusal.value.hint
    assert dump(world.store) == before
