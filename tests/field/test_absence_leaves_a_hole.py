"""The scheduler was down for a week, and my running balance went on as if no day were missing.

What is left out is in the journal, and the instance after the hole says so.
"""

from datetime import datetime, timedelta

from tests.worlds.tasks import TaskWorld
from tests.worlds.world import at
from tidegate.scheduler.explain.instances.facts import no_edge_help, no_edge_line
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.tick.tick import tick

DAILY = '  daily: {program: r, cycle: day, at: {time: "02:00"}, depends_on: [self], status: active}\n'
MINUTES = "  minutes: {program: r, cycle: minute, at: {every: 1m}, catch_up_at_most: 1h, status: active}\n"
NOON = at("12:00")


def after_absence(tasks: str, days: int) -> tuple[TaskWorld, datetime]:
    """A world whose scheduler comes back after some days."""
    world = TaskWorld(tasks)
    world.tick("12:00")
    returned = NOON + timedelta(days=days)
    for minute in range(3):
        tick(world.store, returned + timedelta(minutes=minute))
    return world, returned


def left_out(world: TaskWorld) -> list[Entry]:
    with world.store.reading() as reader:
        return [entry for entry in reader.journal() if entry.kind == "left-out"]


def test_left_out_days_are_one_entry_of_the_journal() -> None:
    world, returned = after_absence(DAILY, 8)
    (entry,) = left_out(world)
    assert (entry.schedule, entry.reason, entry.at) == ("a/daily", "D-EXPIRED", returned)
    assert entry.data == {"first": "2026-03-11", "last": "2026-03-16", "number": 6}


def test_what_is_within_catch_up_at_most_is_not_left_out() -> None:
    world, _ = after_absence(DAILY, 1)
    assert left_out(world) == []


def test_each_absence_has_an_entry_of_its_own() -> None:
    world, returned = after_absence(DAILY, 8)
    tick(world.store, returned + timedelta(days=5))
    assert [entry.data["number"] for entry in left_out(world)] == [6, 3]


def test_minutes_are_counted_and_not_listed() -> None:
    world, _ = after_absence(MINUTES, 100)
    (entry,) = left_out(world)
    # The rest of the first day was made before: from midnight of 11 March to 11:00 of the hundredth day.
    assert entry.data == {
        "first": "2026-03-11-00:00",
        "last": "2026-06-18-10:59",
        "number": 99 * 24 * 60 + 11 * 60,
    }


def test_the_instance_after_the_hole_names_both_times_and_what_to_do() -> None:
    world, returned = after_absence(DAILY, 8)
    with world.store.reading() as reader:
        jobs = [job for job in reader.jobs(schedules=["a/daily"]) if job.of_task.scheduled < returned]
    after = min((job for job in jobs if job.key > "2026-03-10"), key=lambda job: job.key)
    assert after.key == "2026-03-17"
    (edge,) = world.why("12:00", "daily", after.key).diagnostics
    assert edge.code == "E-HOLE"
    line = no_edge_line(edge)
    assert "follows its instance 2026-03-10" in line
    assert "6 scheduled times without an instance, 2026-03-11 to 2026-03-16" in line
    assert "tidegate backfill start a/daily" in no_edge_help(edge, after)
