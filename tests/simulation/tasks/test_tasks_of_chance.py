"""Random histories of cycle tasks, with crashes and errors of the store between any two of its calls."""

from collections import Counter
from pathlib import Path

import pytest

from tests.effort import much
from tests.simulation.hunt import FEW_INSTANCES
from tests.simulation.quick_sqlite import quick_sqlite
from tests.simulation.tasks.world import history
from tests.tally import reach
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.tick.generate import INSTANCES_PER_TICK

FEW = (0, 1, 2, 5)
HAPPENS = (
    EntryKind.INSTANCE,
    EntryKind.PASSED,
    EntryKind.MARKED,
    EntryKind.PAUSED,
    EntryKind.RERUN,
    EntryKind.REPORTED,
    EntryKind.BACKFILL,
    EntryKind.LAUNCH,
    EntryKind.RETRY,
)


def test_a_few_histories_keep_the_promises_and_meet_every_deed() -> None:
    happened = Counter[EntryKind]()
    for seed in FEW:
        world = history(MemoryStore(), seed)
        assert world.store.crashes, "the dice killed no process"
        with world.store.reading() as reader:
            happened.update(entry.kind for entry in reader.journal())
    assert not [kind for kind in HAPPENS if not happened[kind]]


@pytest.mark.parametrize("seed", FEW)
def test_a_history_in_slices_of_few_instances(seed: int) -> None:
    history(MemoryStore(), seed, instances=FEW_INSTANCES)


@pytest.mark.endurance
@pytest.mark.parametrize("seed", range(100, 100 + much(12)))
def test_many_histories_in_memory(seed: int) -> None:
    history(MemoryStore(), seed, instances=(INSTANCES_PER_TICK, FEW_INSTANCES)[seed % 2])
    reach("simulated histories of tasks")


@pytest.mark.endurance
@pytest.mark.parametrize("seed", range(500, 500 + much(2)))
def test_histories_on_sqlite(seed: int, tmp_path: Path) -> None:
    store = quick_sqlite(tmp_path)
    history(store, seed, steps=30)
    store.close()
    reach("simulated histories of tasks")
