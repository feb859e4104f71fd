"""Generation in slices: a tick makes some instances and leaves the rest, and nothing shows of it."""

from collections.abc import Iterator
from datetime import date, timedelta

import pytest

from tests.worlds.tasks import TaskWorld
from tests.worlds.world import at
from tidegate.domain.tasks.grid import slots_of_day
from tidegate.scheduler.decision.fold.after import all_opened
from tidegate.scheduler.decision.instances.made import instance_of_slot, make
from tidegate.scheduler.explain.history import history_of
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.tick import apply
from tidegate.scheduler.tick import tick as tick_module

HOURS = "  {name}: {{type: source, dataset: raw, cycle: hour, status: active{more}}}\n"
TWO = HOURS.format(name="first", more="") + HOURS.format(name="second", more="")
DAYS_TO_2011 = (date(2011, 12, 28) - date(2026, 3, 10)).days


@pytest.fixture
def one_a_tick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each tick makes the day of one task."""
    monkeypatch.setattr(tick_module, "INSTANCES_PER_TICK", 1)
    yield


def states(world: TaskWorld) -> tuple[ScheduleState, ...]:
    with world.store.reading() as reader:
        return reader.schedules()


def made(world: TaskWorld, task: str, day: str) -> list[Job]:
    return [job for job in world.jobs(task) if job.key.startswith(day)]


def test_a_tick_leaves_tasks_to_the_next_one(one_a_tick: None) -> None:
    world = TaskWorld(TWO, start="00:00")
    world.tick("00:00")
    counts: list[tuple[int, int]] = []
    for second in ("22:00", "22:00:01", "22:00:02"):
        world.tick(second)
        counts.append((len(made(world, "first", "2026-03-11")), len(made(world, "second", "2026-03-11"))))
    assert counts == [(24, 0), (24, 24), (24, 24)]


def test_all_sets_of_a_tick_together_make_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.scheduler.tick.due_rows.ROWS_PER_PAGE", 1)
    monkeypatch.setattr(tick_module, "INSTANCES_PER_TICK", 1)
    world = TaskWorld(TWO)
    for hour in range(22):
        world.tick(f"{hour:02}:00")
    world.tick("21:59")
    # Several sets: the instances of 22:00 are due, and after them the days of both tasks.
    world.tick("22:05")
    assert len(made(world, "first", "2026-03-11")) + len(made(world, "second", "2026-03-11")) == 24


def test_missed_days_are_made_in_their_order_whatever_the_task(one_a_tick: None) -> None:
    world = TaskWorld(TWO)
    world.tick("00:00")
    found: list[tuple[str, str]] = []
    for second in range(5):
        before = {job.id for name in ("first", "second") for job in world.jobs(name)}
        world.tick(f"2d 12:00:0{second}")
        new = [job for name in ("first", "second") for job in world.jobs(name) if job.id not in before]
        found += sorted({(job.schedule, job.key[:10]) for job in new})
    assert found == [
        ("a/first", "2026-03-11"),
        ("a/second", "2026-03-11"),
        ("a/first", "2026-03-12"),
        ("a/second", "2026-03-12"),
    ]


def test_missed_days_come_in_their_order_within_a_tick_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.scheduler.tick.working_set.TASKS_PER_PAGE", 1)
    world = TaskWorld(TWO)
    world.tick("00:00")
    world.tick("2d 12:00")
    entries = [
        entry for entry in world.journal() if entry.kind is EntryKind.INSTANCE and entry.at > at("12:00")
    ]
    found = [(entry.schedule, entry.data["instances"][0]["key"][:10]) for entry in entries]
    assert found == [(f"a/{task}", f"2026-03-{day}") for day in (11, 12) for task in ("first", "second")]


def test_nothing_starts_before_the_missed_instances_of_its_upstream_task_are_made(one_a_tick: None) -> None:
    feed = HOURS.format(name="z_feed", more=", update: outside")
    world = TaskWorld(feed + "  clean: {program: q, cycle: hour, depends_on: [z_feed], status: active}\n")
    world.tick("00:00")
    noon = "2026-03-11-12:00"
    world.tick("1d 12:30")
    assert made(world, "clean", "2026-03-11") and not made(world, "z_feed", "2026-03-11")
    why = world.why("1d 12:30", "clean", noon)
    assert world.instance("clean", noon).reason == "W-UPSTREAM"
    assert why.trigger is not None and "still being made" in why.trigger.summary
    assert not why.diagnostics
    world.tick("1d 12:30:01")
    clean = world.instance("clean", noon)
    assert clean.state == "PENDING_TRIGGER"
    assert clean.blocked_on == f"instance:{world.instance('z_feed', noon).id}"
    world.tick("1d 12:31:01")
    assert not world.launch_all("1d 12:31:01")


def test_what_is_caught_up_with_counts_from_the_return_however_long_it_takes(one_a_tick: None) -> None:
    every = ", catch_up_at_most: 3h"
    world = TaskWorld(HOURS.format(name="first", more=every) + HOURS.format(name="second", more=every))
    world.tick("00:00")
    world.tick("1d 12:00")
    # The slices take so long that an hour more would be too old by now.
    for minute in range(10, 70, 10):
        world.tick(f"1d 12:{minute}" if minute < 60 else "1d 13:00")
    for task in ("first", "second"):
        assert min(job.key for job in made(world, task, "2026-03-11")) == "2026-03-11-09:00"


@pytest.mark.parametrize("away", [False, True], ids=["in slices", "away"])
def test_a_task_that_changes_while_it_is_behind_makes_its_missed_days_first(
    one_a_tick: None, away: bool
) -> None:
    world = TaskWorld(TWO)
    world.tick("00:00")
    if not away:
        world.tick("2d 12:00")
        assert not made(world, "second", "2026-03-12")
    world.redeploy("2d 12:00:01", TWO.replace("second: {", "second: {priority: high, "))
    days = {day: len(made(world, "second", f"2026-03-{day}")) for day in (11, 12)}
    assert days == {11: 24, 12: 24}
    for second in range(2, 7):
        world.tick(f"2d 12:00:0{second}")
    assert {job.priority for job in made(world, "second", "2026-03-12") if job.waiting} <= {"high"}
    assert len(made(world, "first", "2026-03-12")) == len(made(world, "second", "2026-03-12")) == 24


def test_a_day_that_clocks_skip_is_no_obstacle(one_a_tick: None) -> None:
    """Samoa had no 30 December 2011; the scheduler was down over it."""
    text = "timezone: Pacific/Apia, catch_up_at_most: 10d"
    world = TaskWorld(HOURS.format(name="first", more=f", {text}"), start=f"{DAYS_TO_2011}d 12:00")
    for second in range(6):
        world.tick(f"{DAYS_TO_2011 + 5}d 12:00:0{second}")
    days = sorted({job.key[:10] for job in world.jobs("first")})
    assert days == [f"2011-12-{day}" for day in ("28", "29", "31")] + [f"2012-01-0{day}" for day in (1, 2, 3)]
    assert len(made(world, "first", "2011-12-31")) == 24


def test_a_slice_of_a_task_is_one_entry_and_older_journals_have_one_for_each_instance() -> None:
    world = TaskWorld(TWO)
    world.tick("22:00")
    entries = [entry for entry in world.journal("first") if entry.kind is EntryKind.INSTANCE]
    assert [len(entry.data["jobs"]) for entry in entries] == [24, 24]
    (state,) = [state for state in states(world) if state.ref == "a/first"]
    folded = [job for entry in entries for job in all_opened(entry, state)]
    kept = {job.id: job for job in world.jobs("first")}
    assert {job.id for job in folded} == kept.keys()
    assert all(job.instance == kept[job.id].instance for job in folded)
    slot = slots_of_day(state.spec.as_task, at("1d 00:00").date())[3]
    job, single = make(state, instance_of_slot(state.spec.as_task, slot), at("22:00"))
    assert single.job == job.id
    (alone,) = all_opened(single, state)
    assert alone in folded
    with world.store.reading() as reader:
        history = history_of(reader, kept[job.id])
    assert [(entry.kind, entry.at, entry.job) for entry in history] == [("instance", at("22:00"), job.id)]


def test_a_slice_is_made_once_if_two_schedulers_tick(one_a_tick: None) -> None:
    world = TaskWorld(TWO)
    for second in (0, 0, 1, 1, 2):
        world.tick("22:00" + (f":0{second}" if second else ""))
    ids = [(job.schedule, job.key) for name in ("first", "second") for job in world.jobs(name)]
    assert len(ids) == len(set(ids))
    assert world.jobs("first")[-1].opened_at >= at("22:00") - timedelta(days=1)


def test_an_error_of_the_store_while_the_inputs_of_an_instance_are_read_ends_the_tick(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = TaskWorld("  clean: {program: q, cycle: hour, status: active}\n")

    def fails(*args: object) -> None:
        raise StoreError("the server closed the connection")

    monkeypatch.setattr(apply, "load_inputs", fails)
    with pytest.raises(StoreError):
        world.tick("01:00")
    assert world.instance("clean", "2026-03-10-00:00").detail == ""
