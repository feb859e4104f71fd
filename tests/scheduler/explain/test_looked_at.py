"""When a waiting job is looked at and when it is discarded: two moments, in every explanation and list."""

import pytest

from tests.scheduler.explain.test_why import ask
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import World, at
from tidegate.listings.queries.jobs import public_jobs

ONE = "constraints: [{concurrency: {max: 1}}]"
NIGHT = 'constraints: [{window: {from: "22:00", to: "06:00"}}]'
BOTH = 'constraints: [{window: {from: "22:00", to: "06:00"}}, {concurrency: {max: 1}}]'
S = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}, %s%s}"
FIRST = ", timeout: {after: 4h, from: first_event}"

ROWS = [
    # (what waits, constraints, timeout, looked at, discarded at)
    ("a slot: time alone leads to the discard only", ONE, "", None, "1d 10:00"),
    ("a slot, a timeout of its own", ONE, ", timeout: 2h", None, "12:00"),
    ("a slot, and the timeout launches it", ONE, ", timeout: {after: 2h, then: run}", "12:00", None),
    ("a window opens before", NIGHT, "", "22:00", "1d 10:00"),
    ("a window would open after", NIGHT, ", timeout: 2h", None, "12:00"),
    ("a window and a slot", BOTH, "", "22:00", "1d 10:00"),
    ("of the first event", ONE, FIRST, None, "14:00"),
]


@pytest.mark.parametrize(("sentence", "constraints", "timeout", "looked", "discarded"), ROWS)
def test_two_moments(sentence, constraints, timeout, looked, discarded):
    world = World(S % (constraints, timeout))
    world.run("09:00", "q", "started", "hand")
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    expected = tuple(None if clock is None else at(clock) for clock in (looked, discarded))

    found = ask(world, "10:00")

    assert (found.next_check, found.discarded_at) == expected
    with world.store.reading() as reader:
        (job,) = public_jobs(reader, [world.only("s")])
    assert (job.next_check_at, job.discarded_at) == expected


SIX = '{cron: "0 6 * * *"}'
RAW = "{partitions: {dataset: raw}}"
LATER = ', constraints: [{window: {from: "08:00", to: "09:00"}}]'
ALONE = [
    # (what it waits for, trigger and constraints, can run at)
    ("a cron is enough", SIX, "1d 06:00"),
    ("the window opens after the fire", SIX + LATER, "1d 08:00"),
    ("a delay after the fire", SIX + ", constraints: [{delay: 1h}]", "1d 07:00"),
    ("data is missing beside the cron", f"{{all: [{SIX}, {RAW}]}}", None),
    ("either is enough", f"{{any: [{SIX}, {RAW}]}}", "1d 06:00"),
    ("the cron comes first in a sequence", f"{{sequence: [{SIX}, {RAW}]}}", None),
    ("data only", RAW, None),
]


@pytest.mark.parametrize(("sentence", "trigger", "runs"), ALONE, ids=[row[0] for row in ALONE])
def test_a_schedule_without_a_job_can_run_when_its_own_tree_says_so(sentence, trigger, runs):
    world = World(f"s: {{program: q, status: active, trigger: {trigger}}}", start="07:00")
    assert ask(world, "10:00").can_run_at == (None if runs is None else at(runs))


def test_a_suspended_schedule_needs_to_be_resumed_first():
    world = World('s: {program: q, status: active, trigger: {cron: "0 6 * * *"}}', start="07:00")
    world.suspend("09:00", "s")
    found = ask(world, "10:00")
    assert (found.next_check, found.can_run_at) == (None, None)
    assert found.missing[0].what == "it is suspended: `tidegate schedules resume a/s`"


def test_an_instance_without_a_timeout_is_never_discarded():
    world = TaskWorld(start="09:30")
    world.tick("10:10")
    found = world.why("10:11", "clean", "2026-03-10-10:00")
    assert (found.next_check, found.discarded_at, found.never_discarded) == (None, None, True)
    with world.store.reading() as reader:
        shown = public_jobs(reader, reader.jobs(schedules=["a/clean"]))
    assert {(job.next_check_at, job.discarded_at) for job in shown if job.reason == "W-UPSTREAM"} == {
        (None, None)
    }
