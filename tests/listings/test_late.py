"""What is late: unfinished jobs of schedules and of tasks, with their deadline while there is one."""

from collections.abc import Collection

from tests.scheduler.explain.deadline import LATE
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import World, at
from tidegate.listings.late import Late
from tidegate.listings.queries.late import lateness
from tidegate.scheduler.tick.deadlines import sweep_deadlines


def late(world: World, apps: Collection[str] | None = None, dataset: str | None = None) -> list[Late]:
    with world.store.reading() as reader:
        return list(lateness(reader, 10, apps=apps, dataset=dataset))


def waiting(schedule: str = LATE) -> World:
    """A world with a job that is late since 11:00."""
    world = World(schedule)
    world.arrive("10:00", "raw", "2026-03-09")
    world.tick("10:00")
    sweep_deadlines(world.store, at("11:01"))
    return world


def test_an_unfinished_job_is_late_with_its_deadline_and_its_owner():
    world = waiting(LATE + "  owner: flights\n")
    (found,) = late(world)
    assert (found.kind, found.name, found.key) == ("schedule", "a/s", "2026-03-09")
    assert (found.due, found.owner) == (at("11:00"), "flights")
    assert "11:00" in found.deadline
    world.arrive("11:05", "raw", "2026-03-10")
    world.tick("11:05")
    assert len(world.jobs("s")) == 2
    assert late(world, apps=["a"]) == [found]
    assert late(world, apps=["b"]) == []
    assert late(world, dataset="a/raw") == []


def test_a_job_that_has_ended_is_late_no_longer():
    world = waiting()
    world.cancel("11:02", world.only("s").id)
    assert late(world) == []


def test_an_instance_of_a_task_is_late_as_a_task():
    task = "  first: {program: q, cycle: day, depends_on: [], status: active, deadline: 2h}\n"
    world = TaskWorld(task)
    world.tick("00:00")
    sweep_deadlines(world.store, at("02:01"))
    assert [(each.kind, each.name, each.key) for each in late(world)] == [("task", "a/first", "2026-03-10")]
