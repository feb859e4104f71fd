"""Rule 26: a job whose run failed gets further attempts. One test for each sentence."""

import msgspec
import pytest

from tests.doubles.dump import dump
from tests.scheduler.decision.retried_runs import HEARS, WAITS, Runs, S
from tests.worlds.witness import Witness
from tests.worlds.world import at
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.launch.run_report import note_failure
from tidegate.scheduler.model.refused import Refused


def test_a_failed_run_is_started_again_after_the_pause_with_the_same_plan():
    world = Runs(", args: {x: '{{ trigger.partitions }}'}, retries: {max: 1, wait: 5m}")
    first = world.only("s")
    failed = world.ends("11:00", 1)
    assert (failed.state, failed.attempt, failed.run_id) == ("PENDING_CONSTRAINT", 2, None)
    assert world.waits("11:00") == WAITS
    assert world.waits("11:04:59") == WAITS
    assert world.waits("11:05") == ("PENDING_LAUNCH", None)
    assert world.only("s").launch == first.launch
    world.attempt("11:05", 2)
    world.ends("11:10", 2, "succeeded")
    assert world.outcome("s") == ("SUCCEEDED", None)
    assert world.ledger("s").consumed == 1


def test_after_the_last_attempt_the_failure_is_final():
    world = Runs(", retries: 1")
    world.ends("11:00", 1)
    world.tick("11:00")
    world.attempt("11:00", 2)
    world.ends("11:01", 2)
    assert world.outcome("s") == ("FAILED", "F-RUN")
    assert world.only("s").detail == "bad 2"


PAUSES = [
    ("equal pauses", "{max: 3, wait: 10m}", ["10:10", "10:20", "10:30"]),
    ("pauses that double", "{max: 3, wait: 10m, backoff: 2}", ["10:10", "10:30", "11:10"]),
    ("a factor with decimals", "{max: 2, wait: 10m, backoff: 1.5}", ["10:10", "10:25"]),
    ("no pause", "3", ["10:00", "10:00", "10:00"]),
]


@pytest.mark.parametrize(("sentence", "retries", "starts"), PAUSES, ids=[row[0] for row in PAUSES])
def test_the_pauses(sentence, retries, starts):
    world = Runs(f", retries: {retries}")
    ended = "10:00"
    for number, start in enumerate(starts, start=1):
        assert world.ends(ended, number).retry_at == at(start)
        world.tick(start)
        world.attempt(start, number + 1)
        ended = start
    assert world.ends(ended, len(starts) + 1).state == "FAILED"


DEATHS = [
    ("without retries a death has two further attempts", "", True, ["11:00:10", "11:00:30", None]),
    ("what a program raises is final without retries", "", False, [None]),
    ("retries say how often a death is tried again", ", retries: {max: 1, wait: 1m}", True, ["11:01", None]),
    ("none at all", ", retries: 0", True, [None]),
]


@pytest.mark.parametrize(("sentence", "rest", "died", "starts"), DEATHS, ids=[row[0] for row in DEATHS])
def test_deaths(sentence, rest, died, starts):
    world = Runs(rest)
    ended = "11:00"
    for number, start in enumerate(starts, start=1):
        job = world.ends(ended, number, died=died)
        assert job.retry_at == (None if start is None else at(start))
        if start is not None:
            world.tick(start)
            world.attempt(start, number + 1)
            ended = start
    assert world.outcome("s") == ("FAILED", "F-RUN")


def test_a_cancelled_run_is_not_started_again():
    world = Runs(", retries: 3")
    world.ends("11:00", 1, "cancelled")
    assert world.outcome("s") == ("FAILED", "F-CANCELLED")


def test_a_run_that_noted_its_failure_has_failed_even_if_it_was_terminated_afterwards():
    world = Runs(", retries: {max: 1, wait: 1h}")
    job = world.only("s")
    note_failure(world.store, job.id, 1, "run1", "took too long", at("11:00"))
    world.run("11:00", "q", "cancelled", "run1", job.id)
    assert world.waits("11:00") == WAITS


def test_its_slots_are_free_during_the_pause_and_its_constraints_decide_again():
    world = Runs(
        ", retries: {max: 1, wait: 10m}, constraints: [{concurrency: {max: 1}}]",
        "t: {program: q, status: active, trigger: {partitions: {dataset: other}},"
        " constraints: [{concurrency: {max: 1}}]}",
    )
    world.arrive("10:30", "other", "2026-03-09")
    world.tick("10:30")
    assert world.outcome("t") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    world.ends("11:00", 1)
    world.tick("11:00")
    assert world.outcome("t") == ("PENDING_LAUNCH", None)
    assert world.waits("11:10") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")


def test_each_attempt_is_a_launch_that_a_rate_counts():
    world = Runs(", retries: {max: 2, wait: 1m}, constraints: [{rate: {max: 2, per: 1h}}]")
    world.ends("10:10", 1)
    world.tick("10:11")
    world.attempt("10:11", 2)
    world.ends("10:20", 2)
    assert world.waits("10:21") == ("PENDING_CONSTRAINT", "W-RATE")
    assert world.waits("11:00") == ("PENDING_LAUNCH", None)


def test_no_event_joins_it():
    world = Runs(", retries: {max: 1, wait: 1h}")
    world.ends("11:00", 1)
    world.arrive("11:30", "raw", "2026-03-08")
    world.tick("11:30")
    assert len(world.jobs("s")) == 2


def test_the_timeout_begins_after_the_pause():
    world = Runs(", retries: {max: 1, wait: 2h}, timeout: 1h, constraints: [{concurrency: {max: 1}}]")
    world.ends("11:00", 1)
    world.run("11:30", "q", "started", "by hand")
    assert world.waits("13:59") == ("PENDING_CONSTRAINT", "W-CONCURRENCY")
    assert world.waits("14:00") == ("FAILED", "D-TIMEOUT")


def test_triggers_hear_of_the_last_attempt_only():
    world = Runs(", retries: 1", HEARS)
    world.ends("11:00", 1)
    world.tick("11:00")
    assert world.heard() == set()
    world.attempt("11:01", 2)
    world.tick("11:01")
    assert world.heard() == {"on_start"}
    world.ends("11:10", 2)
    world.tick("11:10")
    assert world.heard() == {"on_start", "on_failure"}
    assert world.only("on_failure").launch.upstream_runs == ("run2",)


def test_triggers_hear_of_a_success_once():
    world = Runs(", retries: 1", HEARS)
    world.ends("11:00", 1)
    world.tick("11:00")
    world.attempt("11:01", 2)
    world.ends("11:10", 2, "succeeded")
    world.tick("11:10")
    assert world.heard() == {"on_start", "on_success"}


def test_a_person_need_not_wait_for_the_pause_and_counts_anew():
    world = Runs(", retries: {max: 1, wait: 1h}")
    world.ends("11:00", 1)
    world.retry("11:10", world.only("s").id)
    assert world.waits("11:10") == ("PENDING_LAUNCH", None)
    world.attempt("11:10", 2)
    world.ends("11:20", 2)
    assert world.outcome("s") == ("FAILED", "F-RUN")
    world.retry("11:30", world.only("s").id)
    world.tick("11:30")
    world.attempt("11:30", 3)
    assert world.ends("11:40", 3).retry_at == at("12:40")


def test_a_late_word_of_the_attempt_before_changes_nothing():
    world = Runs(", retries: {max: 1, wait: 1m}")
    job = world.ends("11:00", 1)
    world.tick("11:01")
    world.attempt("11:01", 2)
    before = world.only("s")
    for status in ("started", "failed", "succeeded"):
        world.run("11:02", "q", status, "run1", job.id, 1)
    assert world.only("s") == before
    assert not note_failure(world.store, job.id, 1, "run1", "late", at("11:02"))
    with pytest.raises(Refused):
        world.retry("11:03", job.id)


def test_why_names_the_attempt_the_failure_and_the_next_start():
    world = Runs(", retries: {max: 2, wait: 5m}")
    world.ends("11:00", 1)
    world.tick("11:00")
    with world.store.reading() as reader:
        (found,) = explain(reader, "a/s", at("11:01"))
    assert found.headline.startswith("W-RETRY: ")
    assert found.headline.endswith("; attempt 2 of 3 comes next, run run1 failed: bad 1")
    assert found.can_run_at == at("11:05")
    assert [(each.kind, each.what, each.by) for each in found.missing] == [("retry", "time", at("11:05"))]
    world.tick("11:05")
    world.attempt("11:05", 2)
    with world.store.reading() as reader:
        (found,) = explain(reader, world.only("s").id, at("11:06"))
    assert found.headline == "LAUNCHED, run run2, attempt 2"


def test_the_past_is_the_same():
    world = Runs(", retries: {max: 2, wait: 5m}")
    world.ends("11:00", 1)
    world.tick("11:00")
    wanted = dump(world.store)["jobs"]
    world.tick("11:05")
    world.attempt("11:05", 2)
    with world.store.reading() as present, store_at(present, at("11:04")).reading() as past:
        (job,) = past.jobs()
    (row,) = wanted
    known = msgspec.to_builtins(job)
    for name in ("state", "reason", "attempt", "retried", "retry_at", "failed_run", "detail", "held_for"):
        assert known[name] == row[name], name


def test_the_witness_recalls_every_moment():
    world = Witness(f"{S}, retries: {{max: 1, wait: 5m}}, constraints: [{{rate: {{max: 1, per: 1h}}}}]}}")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    (job,) = world.launch_all("10:01")
    world.end("10:30", job, "failed")
    for clock in ("10:30", "10:35", "11:00"):
        world.tick(clock)
    for instant, name, then in world.seen:
        assert world.recalled(instant, name) == then, (instant, name)
