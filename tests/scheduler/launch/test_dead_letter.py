"""Launches that fail: tried again with longer pauses, then dead letters, then queued again."""

from datetime import timedelta

import pytest

from tests.doubles.dump import dump
from tests.worlds.world import World, at
from tidegate.scheduler.explain.work import dead_letters
from tidegate.scheduler.launch.outbox import OFFERS_MAX
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.refused import Refused

KEY, OTHER = "2026-03-09", "2026-03-08"

S = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}"


def dead(rest: str = "", schedules: str = "") -> World:
    """A job of which no run could be made from ten on; a dead letter since six in the evening."""
    world = World(schedules or f"{S}{rest}}}")
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    for offer in range(OFFERS_MAX):
        world.offer_launches(f"{11 + offer}:00")
    world.offer_launches("18:00")
    assert world.outcome("s") == ("FAILED", "F-LAUNCH")
    return world


def test_it_takes_ten_minutes_of_growing_pauses_until_a_launch_is_given_up():
    world = World(f"{S}}}")
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    clock, offered = timedelta(0), []
    while world.outcome("s")[0] == "PENDING_LAUNCH":
        if world.offer_launches(f"10:{clock.seconds // 60:02}:{clock.seconds % 60:02}"):
            offered.append(clock.seconds)
        clock += timedelta(seconds=10)
    assert offered == [0, 10, 20, 40, 80, 160, 320]
    assert clock.seconds - 10 == 640
    assert world.outcome("s") == ("FAILED", "F-LAUNCH")


def test_a_dead_letter_that_is_queued_again_is_launched_with_all_it_had_as_a_further_attempt():
    world = dead()
    job = world.only("s")
    world.requeue("19:00", job.id)
    assert world.outcome("s") == ("PENDING_CONSTRAINT", None)
    world.tick("19:00")
    (request,) = world.offer_launches("19:00")
    assert (request.job, request.attempt, request.run_key) == (job.id, 2, f"{job.id}:2")
    assert request.launch.manifest == {"raw": (KEY,)}
    world.claim("19:01", job.id, "x", attempt=2)
    world.run("19:02", "q", "succeeded", "x", job.id, attempt=2)
    assert world.outcome("s") == ("SUCCEEDED", None)
    assert world.ledger("s").consumed == 1


def test_a_late_run_of_the_attempt_that_was_given_up_does_nothing():
    world = dead()
    job = world.only("s").id
    world.requeue("19:00", job)
    world.tick("19:00")
    assert "attempt 1 is over" in world.claim("19:01", job, "late", attempt=1).refusal
    world.run("19:02", "q", "succeeded", "late", job, attempt=1)
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_it_may_become_a_dead_letter_once_more():
    world = dead()
    world.requeue("19:00", world.only("s").id)
    world.tick("19:00")
    for offer in range(OFFERS_MAX + 1):
        world.offer_launches(f"1d {offer:02}:00")
    assert world.outcome("s") == ("FAILED", "F-LAUNCH")
    world.requeue("2d 00:00", world.only("s").id)
    assert world.only("s").attempt == 3


def test_new_events_open_a_job_of_their_own():
    world = dead(', constraints: [{window: {from: "10:00", to: "10:30"}}]')
    world.requeue("19:00", world.only("s").id)
    world.arrive("19:01", "raw", OTHER)
    world.tick("19:01")
    waiting = world.jobs("s")
    assert [str(job.state) for job in waiting] == ["PENDING_CONSTRAINT"] * 2
    assert [job.attempt for job in waiting] == [2, 1]


def test_the_constraints_hold_it_back_and_the_timeout_counts_anew():
    world = dead(', timeout: 2h, constraints: [{window: {from: "10:00", to: "10:30"}}]')
    world.requeue("19:00", world.only("s").id)
    world.tick("20:59:59")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-WINDOW")
    world.tick("21:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")


def test_a_delay_that_has_passed_is_not_waited_for_again():
    world = World(f"{S}, constraints: [{{delay: 1h}}]}}")
    world.arrive("09:00", "raw", KEY)
    world.tick("10:00")
    for offer in range(OFFERS_MAX + 1):
        world.offer_launches(f"{11 + offer}:00")
    world.requeue("19:00", world.only("s").id)
    world.tick("19:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)
    assert world.only("s").satisfied_at == at("09:00")


def test_a_dead_letter_gives_back_its_slot_and_its_place_in_the_rate():
    world = dead(", constraints: [{concurrency: {max: 1}}, {rate: {max: 1, per: 1d}}]")
    world.arrive("18:30", "raw", OTHER)
    world.tick("18:30")
    assert [str(job.state) for job in world.jobs("s")] == ["FAILED", "PENDING_LAUNCH"]
    world.requeue("19:00", world.jobs("s")[0].id)
    world.tick("19:00")
    assert [str(job.reason) for job in world.jobs("s")] == ["W-RATE", "None"]


def test_it_runs_under_the_text_that_is_deployed_now():
    world = dead(", args: {x: 1}")
    world.redeploy("18:30", f"{S}, args: {{x: 2}}, priority: high}}")
    world.requeue("19:00", world.only("s").id)
    world.tick("19:00")
    (request,) = world.offer_launches("19:00")
    assert (request.launch.args, str(request.priority)) == ({"x": 2}, "high")


@pytest.mark.parametrize("mode", ["discard", "drain", "hold", "backlog"])
def test_a_suspended_schedule_does_not_hold_it(mode):
    world = dead(f", on_suspend: {mode}")
    world.suspend("18:30", "s")
    world.requeue("19:00", world.only("s").id)
    world.tick("19:00")
    assert world.outcome("s") == ("PENDING_LAUNCH", None)


def test_the_journal_says_who_wanted_another_attempt():
    world = dead()
    world.requeue("19:00", world.only("s").id)
    (entry,) = [entry for entry in world.journal("s") if entry.kind is EntryKind.MANUAL]
    assert entry.data == {"action": "requeue", "key": "", "attempt": 2, "by": "cli"}


def test_dead_letters_are_listed_until_they_are_queued_again():
    world = dead()
    with world.store.reading() as reader:
        (letter,) = dead_letters(reader)
        assert dead_letters(reader, "a/other") == ()
    world.requeue("19:00", letter.id)
    with world.store.reading() as reader:
        assert dead_letters(reader) == ()


def succeeded() -> World:
    world = World(f"{S}}}")
    world.arrive("10:00", "raw", KEY)
    world.tick("10:00")
    (job,) = world.launch_all("10:00")
    world.end("11:00", job, "failed")
    return world


REFUSED = [
    ("an unknown job", dead, lambda world: "none", "there is no job none"),
    (
        "a job whose run failed",
        succeeded,
        lambda world: world.only("s").id,
        r"is not a dead letter: it is FAILED \(F-RUN\)",
    ),
]


@pytest.mark.parametrize(("sentence", "given", "job", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused(sentence, given, job, message):
    world = given()
    before = dump(world.store)
    with pytest.raises(Refused, match=message) as refusal:
        world.requeue("19:00", job(world))
    assert refusal.value.hint
    assert dump(world.store) == before


def test_a_letter_of_a_deleted_schedule_is_refused_until_it_is_deployed_again():
    world = dead()
    letter = world.only("s").id
    world.redeploy("18:30", "{}")
    with pytest.raises(Refused, match="its schedule a/s is not deployed"):
        world.requeue("19:00", letter)
    world.redeploy("19:30", f"{S}}}")
    world.requeue("20:00", letter)
    world.tick("20:00")
    assert world.job(letter).state == "PENDING_LAUNCH"


def test_queued_twice_it_is_refused():
    world = dead()
    world.requeue("19:00", world.only("s").id)
    with pytest.raises(Refused, match="is not a dead letter: it is PENDING_CONSTRAINT"):
        world.requeue("19:00", world.only("s").id)
