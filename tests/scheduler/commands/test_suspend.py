"""Suspending, in its four modes: what becomes of what waits, what comes, and the clocks (rules 10, 19)."""

from datetime import timedelta

import pytest

from tests.doubles.dump import dump
from tests.worlds.world import World, at
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.model.job import JobState

MODES = ["discard", "drain", "hold", "backlog"]

TWO = "trigger: {partitions: {dataset: raw, count: 2}}"

A, B, C = "2026-03-07", "2026-03-08", "2026-03-09"


def world_of(mode: str, rest: str = TWO) -> World:
    return World(f"s: {{program: q, status: active, on_suspend: {mode}, {rest}}}")


def half_collected(mode: str, rest: str = TWO) -> World:
    """One partition came at ten, and the schedule is suspended at eleven."""
    world = world_of(mode, rest)
    world.arrive("10:00", "raw", A)
    world.tick("10:00")
    assert world.suspend("11:00", "s")
    return world


def all_of(world: World) -> list[tuple[str, str | None]]:
    """State and reason of every job, in order."""
    return [(str(job.state), job.reason and str(job.reason)) for job in world.jobs("s")]


DROPPED = ("DISCARDED", "D-SUSPENDED")

COLLECTING = ("PENDING_TRIGGER", "W-TRIGGER")

HELD = ("PENDING_CONSTRAINT", "W-HELD")

READY = ("PENDING_LAUNCH", None)

HALF = [
    # mode, once suspended, after another event, and after the resume and one more event
    ("discard", [DROPPED], [DROPPED], [DROPPED, COLLECTING]),
    ("drain", [COLLECTING], [COLLECTING], [READY]),
    ("hold", [COLLECTING], [HELD], [READY]),
    ("backlog", [COLLECTING], [HELD], [READY]),
]


@pytest.mark.parametrize(("mode", "suspended", "joined", "resumed"), HALF, ids=MODES)
def test_a_half_collected_job(mode, suspended, joined, resumed):
    world = half_collected(mode)
    world.tick("11:00")
    assert all_of(world) == suspended
    world.arrive("12:00", "raw", B)
    world.tick("12:00")
    assert all_of(world) == joined
    assert world.resume("13:00", "s")
    world.arrive("13:00", "raw", C)
    world.tick("13:00")
    assert all_of(world) == resumed


LEDGER = [
    # mode, what the ledger says of the three events: pending, and discarded at the door or with the job
    ("discard", 1, {"D-SUSPENDED": 2}),
    ("drain", 2, {"D-SUSPENDED": 1}),
    ("hold", 3, {}),
    ("backlog", 3, {}),
]


@pytest.mark.parametrize(("mode", "pending", "discarded"), LEDGER, ids=MODES)
def test_no_event_is_lost_over_a_suspension(mode, pending, discarded):
    world = half_collected(mode)
    world.arrive("12:00", "raw", B)
    world.resume("13:00", "s")
    world.arrive("13:00", "raw", C)
    world.tick("13:00")
    row = world.ledger("s")
    assert (row.pending, row.discarded) == (pending, discarded)


WINDOW = 'trigger: {partitions: {dataset: raw}}, constraints: [{window: {from: "20:00", to: "21:00"}}]'

SATISFIED = [
    # mode, a job that waits for its window when the schedule is suspended, and at the window's opening
    ("discard", [DROPPED], [DROPPED]),
    ("drain", [("PENDING_CONSTRAINT", "W-WINDOW")], [READY]),
    ("hold", [("PENDING_CONSTRAINT", "W-WINDOW")], [HELD]),
    ("backlog", [("PENDING_CONSTRAINT", "W-WINDOW")], [HELD]),
]


@pytest.mark.parametrize(("mode", "suspended", "open_window"), SATISFIED, ids=MODES)
def test_a_satisfied_job(mode, suspended, open_window):
    world = half_collected(mode, WINDOW)
    world.tick("11:00")
    assert all_of(world) == suspended
    world.tick("20:00")
    assert all_of(world) == open_window


NOTHING_WAITS = [
    # mode, after an event while suspended with nothing waiting, and after the resume
    ("discard", [], []),
    ("drain", [], []),
    ("hold", [], []),
    ("backlog", [HELD], [READY]),
]


@pytest.mark.parametrize(("mode", "suspended", "resumed"), NOTHING_WAITS, ids=MODES)
def test_an_event_when_nothing_waits(mode, suspended, resumed):
    world = world_of(mode, "trigger: {partitions: {dataset: raw}}")
    world.suspend("11:00", "s")
    world.arrive("12:00", "raw", A)
    world.tick("12:00")
    assert all_of(world) == suspended
    world.resume("13:00", "s")
    world.tick("13:00")
    assert all_of(world) == resumed
    row = world.ledger("s")
    assert (row.pending, row.discarded) == ((1, {}) if resumed else (0, {"D-SUSPENDED": 1}))


CRON = [
    # mode, the fire of noon while suspended since eleven, then after the resume at one, then at two
    ("discard", [], [], [READY]),
    ("drain", [], [], [READY]),
    ("hold", [], [], [READY]),
    ("backlog", [HELD], [READY], [READY, READY]),
]


@pytest.mark.parametrize(("mode", "at_noon", "resumed", "next_fire"), CRON, ids=MODES)
def test_a_cron_fire(mode, at_noon, resumed, next_fire):
    world = world_of(mode, 'trigger: {cron: "0 12,14 * * *"}')
    world.suspend("11:00", "s")
    world.tick("12:00")
    assert all_of(world) == at_noon
    world.resume("13:00", "s")
    world.tick("13:00")
    assert all_of(world) == resumed
    world.tick("14:00")
    assert all_of(world) == next_fire


def test_a_cron_fire_joins_what_a_holding_schedule_keeps():
    world = world_of("hold", 'trigger: {all: [{cron: "0 12 * * *"}, {partitions: {dataset: raw}}]}')
    world.arrive("10:00", "raw", A)
    world.tick("10:00")
    world.suspend("11:00", "s")
    world.tick("12:00")
    assert all_of(world) == [HELD]


TIMEOUT = [
    # satisfied at ten, a timeout of two hours; suspended from eleven to one
    ("drain", "12:00"),
    ("hold", "14:00"),
    ("backlog", "14:00"),
]


@pytest.mark.parametrize(("mode", "strikes"), TIMEOUT, ids=MODES[1:])
def test_the_timeout_stands_still_while_a_job_is_held(mode, strikes):
    world = half_collected(mode, f"{WINDOW}, timeout: 2h")
    for clock in ("11:59:59", "12:00"):
        world.tick(clock)
        assert (world.outcome("s") == ("DISCARDED", "D-TIMEOUT")) == (clock >= strikes)
    world.resume("13:00", "s")
    world.tick("13:59:59")
    assert (world.outcome("s") == ("DISCARDED", "D-TIMEOUT")) == (strikes == "12:00")
    world.tick("14:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")
    assert world.only("s").ended_at == at(strikes)


def test_a_timeout_that_begins_while_held_counts_from_the_resume():
    night = '{window: {from: "22:00", to: "06:00"}}'
    world = half_collected("hold", f"{TWO}, constraints: [{night}], timeout: 2h")
    world.arrive("12:00", "raw", B)
    world.tick("12:00")
    world.resume("13:00", "s")
    world.tick("14:59:59")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-WINDOW")
    world.tick("15:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")


def test_what_came_before_the_suspension_is_done_before_it():
    world = world_of("hold")
    world.tick("09:50")
    world.arrive("09:55", "raw", A)
    world.arrive("09:59", "raw", B)
    world.suspend("10:00", "s")
    assert world.outcome("s") == READY


def test_the_time_of_several_suspensions_adds_up():
    world = half_collected("hold", f"{WINDOW}, timeout: 9h")
    world.resume("11:30", "s")
    world.suspend("12:00", "s")
    world.resume("12:15", "s")
    assert world.only("s").held_for == timedelta(minutes=45)
    world.tick("19:44")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-WINDOW")
    world.tick("19:45")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")


def test_a_delay_goes_on_while_a_job_is_held():
    world = half_collected("hold", "trigger: {partitions: {dataset: raw}}, constraints: [{delay: 2h}]")
    world.tick("11:00")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-DELAY")
    world.tick("12:00")
    assert world.outcome("s") == HELD
    world.resume("12:30", "s")
    world.tick("12:30")
    assert world.outcome("s") == READY


def test_a_skip_constraint_of_a_held_job_is_judged_at_the_resume():
    skip = 'constraints: [{window: {from: "08:00", to: "12:30", otherwise: skip}}]'
    for resume, outcome in (("12:15", READY), ("13:00", ("DISCARDED", "D-WINDOW"))):
        world = half_collected("hold", f"{TWO}, {skip}")
        world.arrive("12:00", "raw", B)
        world.tick("12:00")
        assert world.outcome("s") == HELD
        world.resume(resume, "s")
        world.tick(resume)
        assert world.outcome("s") == outcome


@pytest.mark.parametrize("mode", MODES)
def test_a_decided_launch_goes_on_in_every_mode(mode):
    world = world_of(mode, "trigger: {partitions: {dataset: raw}}")
    world.arrive("10:00", "raw", A)
    world.tick("10:00")
    world.suspend("10:01", "s")
    (job,) = world.launch_all("10:02")
    world.end("10:03", job)
    assert world.outcome("s") == ("SUCCEEDED", None)


@pytest.mark.parametrize("mode", ["hold", "backlog"])
def test_a_job_triggered_by_hand_is_not_held(mode):
    world = half_collected(mode)
    world.trigger("12:00", "s")
    world.tick("12:00")
    assert world.outcome("s") == READY


@pytest.mark.parametrize("mode", ["hold", "backlog"])
def test_a_job_triggered_before_the_suspension_is_not_held_either(mode):
    world = world_of(mode, WINDOW)
    world.trigger("10:00", "s")
    world.suspend("11:00", "s")
    world.tick("20:00")
    assert world.outcome("s") == READY


def test_the_timeout_of_a_held_job_that_is_triggered_goes_on():
    world = half_collected("hold", f"{WINDOW}, timeout: 2h")
    world.trigger("13:00", "s")
    world.tick("13:59:59")
    assert world.outcome("s") == ("PENDING_CONSTRAINT", "W-WINDOW")
    world.tick("14:00")
    assert world.outcome("s") == ("DISCARDED", "D-TIMEOUT")


@pytest.mark.parametrize(("mode", "jobs"), [("discard", 0), ("drain", 0), ("hold", 0), ("backlog", 1)])
def test_a_schedule_that_begins_suspended(mode, jobs):
    world = World(f"s: {{program: q, on_suspend: {mode}, trigger: {{partitions: {{dataset: raw}}}}}}")
    world.arrive("10:00", "raw", A)
    world.tick("10:00")
    assert len(world.jobs("s")) == jobs
    world.resume("11:00", "s")
    world.tick("11:00")
    assert len(world.jobs("s", JobState.PENDING_LAUNCH)) == jobs


@pytest.mark.parametrize("mode", MODES)
def test_suspending_or_resuming_twice_changes_nothing(mode):
    world = half_collected(mode)
    before = dump(world.store)
    assert not world.suspend("11:00", "s")
    assert dump(world.store) == before
    assert world.resume("12:00", "s")
    before = dump(world.store)
    assert not world.resume("12:00", "s")
    assert dump(world.store) == before


HEADLINES = [
    ("discard", "suspended: events are ignored until it is resumed"),
    ("drain", "suspended: events are ignored until it is resumed"),
    ("hold", "suspended: events are ignored until it is resumed"),
    ("backlog", "suspended: no waiting job yet; new events are kept until it is resumed"),
]


@pytest.mark.parametrize(("mode", "headline"), HEADLINES, ids=MODES)
def test_why_says_what_a_suspended_schedule_does_with_what_comes(mode, headline):
    world = world_of(mode)
    world.suspend("11:00", "s")
    with world.store.reading() as reader:
        (explanation,) = explain(reader, "a/s", at("12:00"))
    assert explanation.headline == headline
