"""A backfill of months takes all the slots, and tonight's runs wait for days behind it.

Users of such tools start backfills at noon and find the daily pipeline missing in the morning, or give them
pools of their own. Here they take what is left, unless they are started with a priority.
"""

import pytest

from tests.worlds.by import CLI
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import at
from tidegate.domain.model import Priority
from tidegate.scheduler.commands.backfills.request import Wanted
from tidegate.scheduler.commands.backfills.start import start_backfill
from tidegate.scheduler.model.job import ACTIVE, Job

DAILY = """
  nightly: {program: q, cycle: day, at: {time: "02:00"}, status: active, priority: low,
    constraints: [{concurrency: {max: 1, group: cluster}}]}
"""


def backfilled(priority: Priority | None) -> TaskWorld:
    """A world in which a backfill of two weeks begins an hour before the nightly run."""
    world = TaskWorld(DAILY, start="1d 00:00")
    wanted = Wanted(app="a", task="nightly", from_="2026-02-01", to="2026-02-14", lot=14, priority=priority)
    with world.store.transaction() as transaction:
        start_backfill(transaction, wanted, at("1d 01:00"), by=CLI)
    world.tick("1d 01:00")
    world.tick("1d 02:00")
    return world


def running(world: TaskWorld) -> Job:
    """The instance that runs."""
    (job,) = (each for each in world.jobs("nightly") if each.state in ACTIVE)
    return job


def ended(world: TaskWorld, clock: str) -> None:
    """The run ends."""
    world.run(clock, "q", "succeeded", f"run-{running(world).id}", running(world).id)
    world.tick(clock)


NEXT = [
    # the priority of the backfill -> the business date that runs after the first one
    (None, "2026-03-10"),
    (Priority.LOW, "2026-02-02"),
    (Priority.HIGH, "2026-02-02"),
]


@pytest.mark.parametrize(("priority", "date"), NEXT)
def test_the_next_free_slot(priority: Priority | None, date: str) -> None:
    world = backfilled(priority)
    assert running(world).of_task.business_date == "2026-02-01"
    ended(world, "1d 02:30")
    assert running(world).of_task.business_date == date


def test_the_backfill_goes_on_in_order_when_nothing_else_is_ready() -> None:
    world = backfilled(None)
    dates: list[str] = []
    for minute in range(10, 15):
        ended(world, f"1d 03:{minute}")
        dates.append(running(world).of_task.business_date)
    assert dates == ["2026-03-10", "2026-02-02", "2026-02-03", "2026-02-04", "2026-02-05"]
