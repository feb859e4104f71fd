"""Histories of chance, read from their journals: the past that `why --at` asks is what the store held.

A world lives on by a few deeds at a time; after each stretch the store that the journal makes is
compared with the one that the engine has kept, in all that decisions rest on.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.doubles.faulty_store import FaultyStore
from tests.doubles.quick_sqlite import quick_sqlite
from tests.effort import much
from tests.simulation.chance.world import ChanceWorld
from tests.simulation.people.world import PeopleWorld
from tests.worlds.witness import BOOKS
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.job import WAITING, Job, JobState
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.run import ALL_RUNS, GAUGES
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.protocol import Store

DEEDS_BETWEEN = 15
STRETCHES = 8
LONGEST_RATE = timedelta(days=7)


pytestmark = pytest.mark.endurance  # each history takes a second and more


@pytest.mark.parametrize("seed", range(much(3)))
def test_the_journal_says_what_the_store_holds(seed: int) -> None:
    compare_chance(MemoryStore(), seed)


@pytest.mark.parametrize("seed", range(much(1)))
def test_so_it_does_when_runs_fail_and_are_started_again(seed: int) -> None:
    compare_chance(MemoryStore(), seed, retries=True)


def test_so_it_does_when_it_was_written_to_sqlite(tmp_path: Path) -> None:
    store = quick_sqlite(tmp_path)
    compare_chance(store, 63)
    store.close()


@pytest.mark.parametrize("seed", range(20, 20 + much(1)))
def test_so_it_does_when_people_override_what_was_deployed(seed: int) -> None:
    compare(PeopleWorld(FaultyStore(MemoryStore()), seed), seed)


def compare_chance(store: Store, seed: int, *, retries: bool = False) -> None:
    """Compare a history of chance."""
    compare(ChanceWorld(FaultyStore(store), seed, retries=retries), seed)


def compare(world: ChanceWorld, seed: int) -> None:
    """Live through a history, and look back every now and then."""
    store = world.store
    for _ in range(STRETCHES):
        world.live(DEEDS_BETWEEN)
        with store.reading() as reader:
            latest = max(entry.at for entry in reader.journal())
            past, now = store_at(reader, latest), held(reader, latest)
        with past.reading() as reader:
            then = held(reader, latest)
        for name in now:
            assert then[name] == now[name], f"seed {seed}: {name}"


def held(reader: EngineReader, latest: datetime) -> dict[str, Any]:
    """What decisions rest on."""
    states = reader.schedules()
    programs = sorted({f"{state.app}/{state.spec.program}" for state in states})
    waiting = [job.id for job in reader.jobs(states=WAITING)]
    return {
        "schedules": {state.ref: (state.fingerprint, state.status, state.clocks) for state in states},
        "apps": {deployed.name: deployed.revision for deployed in reader.records(APPS)},
        "jobs": {job.id: shown(job) for job in reader.jobs()},
        "collected": {
            job: [(each.event.id, each.leaf, each.event.arrived) for each in found]
            for job, found in reader.deliveries(waiting).items()
        },
        "slots": reader.slots([ALL_RUNS, *(f"program:{program}" for program in programs)]),
        "launches": reader.launches(programs, latest - LONGEST_RATE),
        "successes": {
            program: (history.last_success_started, history.last_success_ended)
            for program, history in reader.history(programs).items()
        },
        "gauges": reader.records(GAUGES),
        "overrides": [msgspec.structs.replace(each, spec=None) for each in reader.records(OVERRIDES)],
    }


def shown(job: Job) -> dict[str, Any]:
    """A job without the engine's books, and once it is over without what no longer matters."""
    found = msgspec.to_builtins(job)
    over = () if job.waiting else ("held_at", "held_for", "first_event_at", "closed", "decided_at")
    if job.state is JobState.DISCARDED:
        # A changed schedule carries its jobs over, and then discards them.
        over = (*over, "fingerprint", "priority", "satisfied_at")
    return {name: value for name, value in found.items() if name not in (*BOOKS, *over)}
