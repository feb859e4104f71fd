"""A tick in several transactions: what is left between two of them, and who goes on with it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.doubles.dump import dump
from tests.worlds.tasks import TaskWorld
from tests.worlds.world import World, at
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.launch_order import TURNS
from tidegate.scheduler.tick import tick as tick_module
from tidegate.scheduler.tick.due import is_anything_due
from tidegate.scheduler.tick.unfinished import unfinished

LIMITED = """
urgent: {program: q, for_each: partition, priority: high, status: active,
  trigger: {partitions: {dataset: raw}}, constraints: [{concurrency: {max: 2, group: g}}]}
usual: {program: r, for_each: partition, status: active, trigger: {partitions: {dataset: raw}},
  constraints: [{concurrency: {max: 2, group: g}}]}
"""
DAYS = [f"2026-02-{day:02}" for day in range(1, 10)]

SOURCES = """
  feed: {type: source, dataset: raw, cycle: hour, status: active, priority: high}
  clean: {program: q, cycle: hour, depends_on: [feed], status: active, priority: low,
    timeout: {after: 1h, then: discard}}
  daily: {program: r, cycle: hour, depends_on: [clean], status: active}
"""


@pytest.fixture
def one_decision(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Parts of one decision."""
    monkeypatch.setattr(tick_module, "DECISIONS_AT_ONCE", 1)
    yield


def first_part(world: World, clock: str) -> None:
    """A tick whose process dies after its first transaction."""
    tick_module.tick(world.store, at(clock), lambda transaction: False)


def waiting_days() -> World:
    world = World(LIMITED)
    world.tick("09:00")
    world.arrive("10:00", "raw", *DAYS)
    return world


def whole_outcome(world: World) -> dict[str, Any]:
    tables = dict(dump(world.store))
    del tables["cursors"]
    tables["journal"] = sorted(tables["journal"], key=lambda each: (each["at"], str(each)))
    return tables


def decided_at_once() -> dict[str, Any]:
    world = waiting_days()
    world.tick("10:00")
    world.suspend("10:05", "usual")
    return whole_outcome(world)


def test_a_transaction_that_decides_few_leaves_the_others_in_launch_order(one_decision: None) -> None:
    world, left = waiting_days(), 18
    for days in (DAYS[:1], DAYS[:2], DAYS[:2]):
        first_part(world, "10:00")
        left -= 1
        with world.store.reading() as reader:
            assert len(reader.records(TURNS)) == left
            assert is_anything_due(reader, at("10:00"))
        assert sorted(job.key for job in world.jobs("urgent", JobState.PENDING_LAUNCH)) == days
        assert not world.jobs("usual", JobState.PENDING_LAUNCH)


@pytest.mark.parametrize("parts", [1, 7, 18, 19, 25])
def test_what_a_person_does_finds_all_of_it_decided(one_decision: None, parts: int) -> None:
    world = waiting_days()
    for _ in range(parts):
        first_part(world, "10:00")
    world.suspend("10:05", "usual")
    with world.store.reading() as reader:
        assert unfinished(reader) is None and not reader.records(TURNS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tick_module, "DECISIONS_AT_ONCE", 2_000)
        assert whole_outcome(world) == decided_at_once()


def test_a_scheduler_that_returns_after_hours_first_finishes_the_instant(one_decision: None) -> None:
    world = waiting_days()
    first_part(world, "10:00")
    world.tick("18:00")
    assert {job.satisfied_at for job in world.jobs("urgent")} == {at("10:00")}
    with world.store.reading() as reader:
        assert {entry.at for entry in reader.journal() if entry.job} == {at("10:00")}


def outcomes(play: Callable[[], World], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for decisions in (2_000, 1):
        monkeypatch.setattr(tick_module, "DECISIONS_AT_ONCE", decisions)
        found.append(whole_outcome(play()))
    return found


def test_an_instance_times_out_though_its_upstream_ends_at_the_same_instant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def play() -> TaskWorld:
        world = TaskWorld(SOURCES)
        world.tick("00:00")
        world.tick("2d 06:00")
        return world

    whole, parts = outcomes(play, monkeypatch)
    assert parts == whole
    assert any(entry["reason"] == "D-TIMEOUT" for entry in whole["journal"])
