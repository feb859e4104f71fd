"""I backfilled a year, and my phone rang 365 times: every day of it was late.

A day of the past has its deadline from the moment at which its lot begins.
"""

from datetime import timedelta

from tests.worlds.tasks import TaskWorld
from tests.worlds.world import at
from tidegate.scheduler.tick.deadlines import next_late_job, sweep_deadlines
from tidegate.scheduler.tick.tick import tick

TASK = '  daily: {program: r, cycle: day, at: {time: "02:00"}, deadline: "06:00", status: active}\n'
NOON = at("12:00")
SIX = NOON + timedelta(hours=18)


def backfilled(first: str, last: str) -> TaskWorld:
    world = TaskWorld(TASK, start="11:00")
    world.backfill("12:00", "daily", first, last)
    tick(world.store, NOON)
    return world


def late(world: TaskWorld) -> list[str]:
    with world.store.reading() as reader:
        jobs = reader.jobs(schedules=["a/daily"])
    return sorted(job.of_task.business_date for job in jobs if job.late_at and job.of_task.number)


def test_a_year_of_days_is_not_late_at_once() -> None:
    world = backfilled("2025-03-01", "2026-02-28")
    sweep_deadlines(world.store, NOON + timedelta(minutes=1))
    assert late(world) == []


def test_the_first_deadline_after_the_begin_of_its_lot_counts() -> None:
    world = backfilled("2026-03-01", "2026-03-03")
    with world.store.reading() as reader:
        assert next_late_job(reader) == SIX + timedelta(microseconds=1)
    sweep_deadlines(world.store, SIX)
    assert late(world) == []
    sweep_deadlines(world.store, SIX + timedelta(seconds=1))
    assert late(world) == ["2026-03-01"]


def test_the_next_lot_counts_from_its_own_begin() -> None:
    world = backfilled("2026-03-01", "2026-03-03")
    (first,) = world.launch_all("12:00")
    world.end("13:00", first)
    tick(world.store, at("13:00"))
    assert world.instance("daily", "2026-03-03", 1).of_task.began == at("13:00")
    assert world.instance("daily", "2026-03-04", 1).of_task.began is None
    sweep_deadlines(world.store, SIX + timedelta(seconds=1))
    assert late(world) == ["2026-03-02"]
