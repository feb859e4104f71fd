"""An event reads the open jobs of its key only: the result is that of reading all open jobs of its schedules.

The same inputs are played twice, once as the engine does it and once where all open jobs are read before any
event is routed. All that the stores hold afterwards must be equal to the letter, the journal in its order.
"""

import random
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.databases import KINDS, MEMORY, new_url
from tests.doubles.dump import dump
from tests.effort import much
from tests.simulation.paced import every, played
from tests.tally import reach
from tests.worlds.world import World, at
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.open_jobs import OpenJobs, Place

pytestmark = pytest.mark.slow  # whole histories

KEYED = """
pairs: {program: q, for_each: partition, status: active, timeout: 5h,
  trigger: {all: [{partitions: {dataset: raw}}, {partitions: {dataset: other}}]}}
fired: {program: r, for_each: day, status: active, max_batch: 3,
  trigger: {all: [{partitions: {dataset: raw}}, {cron: "17 * * * *"}]},
  constraints: [{concurrency: {max: 2}}]}
each: {program: p, status: active, batching: each, trigger: {partitions: {dataset: other, count: 2}},
  constraints: [{concurrency: {max: 1}}]}
dated: {program: t, status: active, batching: date, trigger: {any: [{cron: "0 */6 * * *"},
  {partitions: {dataset: other}}]}, constraints: [{delay: 7h}, {concurrency: {max: 1}}]}
held: {program: p, for_each: partition, status: active, on_suspend: hold,
  trigger: {partitions: {dataset: other, count: 2, distinct: false}, collect_within: 3h}}
"""
"""Keys that wait: for another dataset, for a fire that joins all of them, full ones, dates, and held ones."""


def days(store: Store, seed: int) -> Mapping[str, Any]:
    """What a store holds after two days of arrivals, ends of runs, suspensions and pauses of chance."""
    dice, now = random.Random(seed), at("00:00")
    world = World(KEYED, start="00:00", store=store)
    for number in range(90):
        now += timedelta(minutes=dice.choice((0, 0, 2, 11, 40, 90)))
        clock = f"{(now - at('00:00')).days}d {now:%H:%M:%S}"
        _give(world, clock, number, dice)
        if dice.random() < 0.7:
            world.tick(clock)
    return dump(store)


def _give(world: World, clock: str, number: int, dice: random.Random) -> None:
    match dice.choice(("arrive", "arrive", "arrive", "end", "suspend", "resume")):
        case "arrive":
            keys = dice.sample(range(1, 29), dice.randint(1, 6))
            world.arrive(clock, dice.choice(("raw", "other")), *(f"2026-02-{day:02d}" for day in keys))
        case "end":
            for job in world.launch_all(clock)[:2]:
                world.end(clock, job)
        case "suspend":
            world.suspend(clock, "held")
        case _:
            world.resume(clock, "held")


def reading_all(monkeypatch: pytest.MonkeyPatch, play: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """What is left where the open jobs of all keys are read for every event."""
    read = OpenJobs._read

    def whole(self: OpenJobs, places: Collection[Place]) -> None:
        read(self, {(schedule, None) for schedule, _ in places})

    with monkeypatch.context() as patch:
        patch.setattr(OpenJobs, "_read", whole)
        return play()


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A new store of every kind."""
    url = new_url(request.param, request, tmp_path)
    opened = MemoryStore() if url == MEMORY else open_store(url)
    yield opened
    opened.close()


@pytest.mark.parametrize("seed", range(much(2)))
def test_keys_that_wait(seed: int, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = reading_all(monkeypatch, lambda: days(MemoryStore(), seed))
    found = days(store, seed)
    for table, rows in wanted.items():
        assert found[table] == rows, table
    reach("histories with jobs read by key")


def test_the_histories_meet_what_waits_in_every_way() -> None:
    store = MemoryStore()
    days(store, 0)
    with store.reading() as reader:
        jobs = reader.jobs()
        joined = {entry.reason for entry in reader.journal(kinds=[EntryKind.EVENT_DISCARDED])}
    for name, most in (("pairs", 5), ("fired", 5), ("dated", 1)):
        assert len({job.key for job in jobs if job.schedule == f"a/{name}"}) > most, name
    states = {JobState.PENDING_TRIGGER, JobState.PENDING_CONSTRAINT, JobState.SUCCEEDED}
    assert {job.state for job in jobs} >= states
    assert any(job.waiting and job.closed for job in jobs)
    assert joined >= {Reason.D_SUSPENDED, Reason.D_NO_KEY}


@pytest.mark.parametrize("seed", range(1, 1 + much(1)))
def test_schedules_of_chance(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = reading_all(monkeypatch, lambda: dump(played(seed, every(60))))
    assert dump(played(seed, every(60))) == wanted
    reach("histories with jobs read by key")
