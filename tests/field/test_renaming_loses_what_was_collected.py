"""A schedule gets another name, and with it goes all that it has collected, its pause and its history.

Users of such tools keep bad names for years: a new name is a new object there, which runs at once what was
paused, forgets what it waits for, and leaves its counts behind.
"""

import pytest

from tests.worlds.world import DATASETS, World
from tidegate.compiler.compile import compile_files

COLLECTS = """
{name}: {{program: q, {former}on_update: carry, trigger: {{partitions: {{dataset: raw, count: {count}}}}},
  timeout: {{after: 30d, from: first_event}}, status: active}}
"""


def collects(name: str, former: str = "", count: int = 3) -> str:
    """The schedule under a name."""
    return COLLECTS.format(name=name, former=former and f"renamed_from: {former}, ", count=count)


def collecting() -> World:
    """A world in which a schedule has two of three days."""
    world = World(collects("seven"))
    world.arrive("10:00", "raw", "2026-03-01", "2026-03-02")
    world.tick("10:00")
    return world


def test_what_it_has_collected_counts_on() -> None:
    world = collecting()
    world.redeploy("11:00", collects("weekly", "seven"))
    world.arrive("12:00", "raw", "2026-03-03")
    world.tick("12:00")
    assert world.outcome("weekly") == ("PENDING_LAUNCH", None)
    assert world.ledger("weekly").landed == 3


def test_a_pause_stays_a_pause() -> None:
    world = collecting()
    world.suspend("10:30", "seven")
    world.redeploy("11:00", collects("weekly", "seven"))
    world.arrive("12:00", "raw", "2026-03-03")
    world.tick("12:00")
    assert all(not job.waiting and job.launch is None for job in world.jobs("weekly"))


def test_another_trigger_at_the_same_time_is_carried_as_without_a_rename() -> None:
    world = collecting()
    world.redeploy("11:00", collects("weekly", "seven", count=2))
    world.tick("11:00")
    assert world.outcome("weekly") == ("PENDING_LAUNCH", None)


def test_the_line_may_stay_and_does_nothing_more() -> None:
    world = collecting()
    for clock in ("11:00", "11:10", "11:20"):
        world.redeploy(clock, collects("weekly", "seven"))
    assert len(world.jobs("weekly")) == 1


def test_a_way_back_is_a_rename_too() -> None:
    world = collecting()
    job = world.only("seven").id
    world.redeploy("11:00", collects("weekly", "seven"))
    world.redeploy("11:10", collects("seven", "weekly"))
    assert world.only("seven").id == job


WRONG = [
    # what is written -> the message
    (f"{collects('a', 'b')}{collects('b')}", '`renamed_from` names a schedule that is gone, got "b"'),
    (
        f"{collects('a', 'old')}{collects('b', 'old')}",
        'a former name belongs to one schedule, got "old" again',
    ),
    (collects("a", "other/old"), '`renamed_from` names a former schedule of this app, got "other/old"'),
]


@pytest.mark.parametrize(("schedules", "message"), WRONG, ids=["still there", "twice", "of another app"])
def test_a_former_name_that_cannot_be(schedules: str, message: str) -> None:
    text = DATASETS + "\n".join(f"  {line}" for line in schedules.strip().splitlines()) + "\n"
    found = [each for each in compile_files({"a.yaml": text.encode()}).diagnostics if each.code == "N350"]
    assert [each.summary.startswith(message) for each in found] == [True]
