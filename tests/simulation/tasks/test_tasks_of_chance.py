"""Random histories of cycle tasks, with crashes and errors of the store between any two of its calls."""

from collections import Counter
from pathlib import Path

import pytest

from tests.doubles.quick_sqlite import quick_sqlite
from tests.effort import much
from tests.simulation.tasks.journal import DEEDS
from tests.simulation.tasks.world import history
from tests.tally import reach
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.store.memory.store import MemoryStore

FEW = range(8)
FEW_CHANGING = range(6)
CHANGES = (EntryKind.REMADE, EntryKind.GONE, EntryKind.DISCARDED, EntryKind.LAUNCH_FAILED)


FAILED_ONCE = (
    (119, 34),  # a return in the evening forgot the rest of the oldest day
    (12, 11),  # a task that changed its zone lost instances
    (35, 35),  # a rerun with downstream discarded what a deleted task had done
)
"""Seeds and steps of changing tasks that have found a fault; the planted bugs show that they still can."""

LANDED_ONCE = ((1005, 80),)  # a source that took another dataset kept its data, whose keys that one has not
"""Those in which data reports the instances of sources."""


def happened(seeds: range, *, changes: bool) -> Counter[EntryKind]:
    """How often each kind of entry was written in some histories."""
    found = Counter[EntryKind]()
    for seed in seeds:
        world = history(MemoryStore(), seed, changes=changes)
        assert world.store.crashes, "the dice killed no process"
        with world.store.reading() as reader:
            found.update(entry.kind for entry in reader.journal())
    return found


@pytest.mark.endurance
def test_a_few_histories_keep_the_promises_and_meet_every_deed() -> None:
    found = happened(FEW, changes=False)
    assert not [kind for kind in DEEDS if not found[kind]]


@pytest.mark.endurance
def test_a_few_histories_of_changing_tasks_keep_them_too() -> None:
    found = happened(FEW_CHANGING, changes=True)
    assert not [kind for kind in (*DEEDS, *CHANGES) if not found[kind]]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "steps"), FAILED_ONCE)
def test_what_failed_once_fails_no_more(seed: int, steps: int) -> None:
    history(MemoryStore(), seed, steps, changes=True)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "steps"), LANDED_ONCE)
def test_what_failed_once_with_data_fails_no_more(seed: int, steps: int) -> None:
    history(MemoryStore(), seed, steps, changes=True, landed=True)


@pytest.mark.endurance
def test_a_few_histories_in_which_data_reports_the_instances_of_sources() -> None:
    rows = Counter[str]()
    for seed in range(4):
        world = history(MemoryStore(), seed, changes=True, landed=True)
        with world.store.reading() as reader:
            entries = reader.journal()
        rows.update(f"{entry.kind} {entry.reason or entry.data.get('by', '')}" for entry in entries)
    met = ("event ", "event-discarded D-KEY", "event-discarded D-UPDATED", "reported event", "rerun event")
    assert not [each for each in met if not rows[each]]


@pytest.mark.endurance
@pytest.mark.parametrize("seed", range(100, 100 + much(2)))
def test_many_histories_in_memory(seed: int) -> None:
    history(MemoryStore(), seed, changes=seed % 4 != 0)
    history(MemoryStore(), seed, changes=True, landed=True)
    reach("simulated histories of tasks")


@pytest.mark.endurance
@pytest.mark.parametrize("seed", range(500, 500 + much(1)))
def test_histories_on_sqlite(seed: int, tmp_path: Path) -> None:
    store = quick_sqlite(tmp_path)
    history(store, seed, steps=15, changes=seed % 2 == 0)
    store.close()
    reach("simulated histories of tasks")
