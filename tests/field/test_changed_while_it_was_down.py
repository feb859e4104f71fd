"""My data came while the scheduler was down, a deployment changed the schedule, and nothing named the data.

Each test reads an event after a change that was made later than the event happened.
"""

import pytest

from tests.worlds.world import World
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.job import JobState

RAW = "s: {program: q, status: active, on_update: %s, trigger: {partitions: {dataset: raw, count: 2}}}"
RUNS = "s: {program: q, status: active, on_update: %s, trigger: {run: {program: p}}}"
OTHER = 's: {program: q, status: active, on_update: reset, trigger: {cron: "0 0 1 1 *"}}'
EITHER = """
s:
  program: q
  status: active
  on_update: %s
  trigger: {any: [{partitions: {dataset: raw, count: 2}}, {run: {program: p}}]}
"""


def changed_while_down(before: str, after: str) -> World:
    """A schedule is changed two hours after the last tick, and an event from before that is read after it."""
    world = World(before, start="08:00")
    world.tick("08:00")
    world.redeploy("10:00", after)
    world.arrive("09:00", "raw", "2026-03-01")
    world.tick("12:00")
    return world


@pytest.mark.parametrize("on_update", ["reset", "carry"])
@pytest.mark.parametrize("before", [RAW, EITHER])
def test_what_only_the_old_text_listened_to_has_a_row(before: str, on_update: str) -> None:
    world = changed_while_down(before % on_update, RUNS % on_update)
    assert world.ledger("s").discarded == {"D-UPDATED": 1}
    (entry,) = [each for each in world.journal("s") if each.event == "e1"]
    assert (entry.reason, entry.job) == ("D-UPDATED", None)
    assert world.jobs("s") == ()


def test_what_both_texts_listen_to_has_the_end_of_the_old_job() -> None:
    world = changed_while_down(RAW % "reset", EITHER % "reset")
    assert world.ledger("s").discarded == {"D-UPDATED": 1}
    world = changed_while_down(RAW % "carry", EITHER % "carry")
    assert (world.ledger("s").discarded, world.ledger("s").pending) == ({}, 1)


def test_of_a_suspended_schedule_it_is_discarded_as_suspended() -> None:
    world = World(RAW % "reset", start="08:00")
    world.suspend("08:10", "s")
    world.redeploy("10:00", RUNS % "reset")
    world.arrive("09:00", "raw", "2026-03-01")
    world.tick("12:00")
    assert world.ledger("s").discarded == {"D-SUSPENDED": 1}


def test_what_comes_at_the_change_or_later_is_not_of_the_old_text() -> None:
    world = changed_while_down(RAW % "reset", RUNS % "reset")
    world.arrive("10:00", "raw", "2026-03-02")
    world.arrive("12:01", "raw", "2026-03-03")
    world.tick("12:01")
    assert world.ledger("s").landed == 1


def test_of_several_changes_in_one_downtime_each_text_has_its_rows() -> None:
    world = World(RAW % "reset", start="08:00")
    world.tick("08:00")
    world.redeploy("10:00", RUNS % "reset")
    world.redeploy("11:00", OTHER)
    world.arrive("09:00", "raw", "2026-03-01")
    world.run("09:30", "p", "succeeded", "by-hand")
    # Between the changes nothing listened to the data, and after them nothing to the runs.
    world.arrive("10:30", "raw", "2026-03-02")
    world.run("11:30", "p", "succeeded", "later")
    world.tick("12:00")
    assert world.ledger("s").discarded == {"D-UPDATED": 2}


def test_what_was_read_before_a_change_is_forgotten() -> None:
    world = World(RAW % "reset", start="08:00")
    for clock, text in (("08:10", RUNS % "reset"), ("08:20", OTHER), ("08:40", RUNS % "reset")):
        world.tick(clock)
        world.redeploy(clock, text)
    with world.store.reading() as reader:
        found = reader.records(SUBSCRIPTIONS, schedule=["a/s"])
    assert [each.former is None for each in found] == [True]


def test_the_runs_of_an_old_text_have_a_row_too() -> None:
    world = World(RUNS % "reset", start="08:00")
    world.tick("08:00")
    world.redeploy("10:00", RAW % "reset")
    world.run("09:00", "p", "succeeded", "by-hand")
    world.tick("12:00")
    assert world.ledger("s").landed == 1


def test_a_text_that_listens_again_collects_again() -> None:
    world = changed_while_down(RAW % "reset", RUNS % "reset")
    world.redeploy("12:10", RAW % "reset")
    world.arrive("12:20", "raw", "2026-03-02", "2026-03-03")
    world.tick("12:20")
    (job,) = world.jobs("s", JobState.PENDING_LAUNCH)
    assert job.launch.manifest == {"raw": ("2026-03-02", "2026-03-03")}
