"""Rule 26: what a job does between two attempts when its schedule is suspended, changed or deleted."""

import pytest

from tests.scheduler.decision.retried_runs import HEARS, WAITS, Runs, S
from tidegate.scheduler.launch.outbox import OFFERS_MAX


def suspended(world: Runs) -> None:
    world.suspend("11:30", "s")


def redeployed(world: Runs) -> None:
    world.redeploy("11:30", f"{S}, args: {{x: 2}}}}\n{HEARS}")


def deleted(world: Runs) -> None:
    world.redeploy("11:30", HEARS)


def cancelled(world: Runs) -> None:
    world.cancel("11:30", world.only("s").id)


GIVEN_UP = [
    ("suspended", suspended, "D-SUSPENDED"),
    ("another schedule", redeployed, "D-UPDATED"),
    ("deleted", deleted, "D-DELETED"),
    ("cancelled", cancelled, "D-CANCELLED"),
]


@pytest.mark.parametrize(("sentence", "happens", "reason"), GIVEN_UP, ids=[row[0] for row in GIVEN_UP])
def test_a_job_that_is_given_up_during_the_pause_has_failed(sentence, happens, reason):
    world = Runs(", retries: {max: 1, wait: 1h}", HEARS)
    world.ends("11:00", 1)
    world.tick("11:00")
    happens(world)
    world.tick("11:30")
    assert world.outcome("s") == ("FAILED", reason)
    assert world.heard() == {"on_failure"}
    assert world.ledger("s").consumed == 1


def test_a_skip_constraint_gives_it_up():
    skip = "{window: {from: '10:00', to: '11:05', otherwise: skip}}"
    world = Runs(f", retries: {{max: 1, wait: 10m}}, constraints: [{skip}]", HEARS)
    world.ends("11:00", 1)
    world.tick("11:10")
    assert world.outcome("s") == ("FAILED", "D-WINDOW")
    assert world.heard() == {"on_failure"}


def test_a_dead_letter_of_a_later_attempt_keeps_its_plan():
    world = Runs(", retries: 1")
    plan = world.only("s").launch
    world.ends("11:00", 1)
    world.tick("11:00")
    for offer in range(OFFERS_MAX + 1):
        world.offer_launches(f"{12 + offer}:00")
    assert world.outcome("s") == ("FAILED", "F-LAUNCH")
    assert world.requeue("20:30", world.only("s").id).launch == plan


SUSPENDED = [
    ("discard", ("FAILED", "F-RUN")),
    ("drain", WAITS),
    ("hold", WAITS),
]


@pytest.mark.parametrize(("on_suspend", "outcome"), SUSPENDED)
def test_a_suspended_schedule_starts_again_what_it_would_keep(on_suspend, outcome):
    world = Runs(f", retries: {{max: 1, wait: 1h}}, on_suspend: {on_suspend}")
    world.suspend("10:30", "s")
    world.ends("11:00", 1)
    assert world.waits("11:00") == outcome


def test_a_held_attempt_starts_after_the_resume():
    world = Runs(", retries: {max: 1, wait: 1m}, on_suspend: hold")
    world.suspend("10:30", "s")
    world.ends("11:00", 1)
    assert world.waits("11:01") == ("PENDING_CONSTRAINT", "W-HELD")
    world.resume("12:00", "s")
    assert world.waits("12:00") == ("PENDING_LAUNCH", None)


LATE = [
    ("of another program", "s: {program: r, status: active, trigger: {partitions: {dataset: raw}}}"),
    ("deleted", "{}"),
]


@pytest.mark.parametrize(("sentence", "schedules"), LATE, ids=[row[0] for row in LATE])
def test_the_schedule_as_deployed_when_the_run_fails_decides(sentence, schedules):
    world = Runs(", retries: 1")
    world.redeploy("10:30", schedules)
    world.ends("11:00", 1)
    assert world.outcome("s") == ("FAILED", "F-RUN")


def test_a_change_of_retries_leaves_waiting_jobs_alone():
    world = Runs(", retries: {max: 1, wait: 1h}")
    world.ends("11:00", 1)
    world.tick("11:00")
    world.redeploy("11:30", f"{S}, retries: {{max: 5, wait: 1m}}}}")
    assert world.waits("11:59") == WAITS
    assert world.waits("12:00") == ("PENDING_LAUNCH", None)


CARRY = [
    ("keeps all events and its plan", "program: q", ("PENDING_CONSTRAINT", "W-RETRY")),
    ("but not under another program", "program: r", ("FAILED", "D-UPDATED")),
]


@pytest.mark.parametrize(("sentence", "program", "outcome"), CARRY, ids=[row[0] for row in CARRY])
def test_carry(sentence, program, outcome):
    world = Runs(", retries: {max: 1, wait: 1h}")
    world.ends("11:00", 1)
    world.tick("11:00")
    trigger = "trigger: {partitions: {dataset: other}}, on_update: carry, retries: 1"
    world.redeploy("11:30", f"s: {{{program}, status: active, {trigger}}}")
    assert world.waits("11:30") == outcome
    with world.store.reading() as reader:
        job = world.only("s")
        assert len(reader.deliveries([job.id])[job.id]) == 1
