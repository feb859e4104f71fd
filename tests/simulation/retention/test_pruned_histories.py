"""Pruning at random instants, with next to nothing kept, changes no decision; and it survives any death."""

from pathlib import Path

import pytest

from tests.doubles.dump import dump
from tests.doubles.faulty_store import Crash, FaultyStore
from tests.doubles.quick_sqlite import quick_sqlite
from tests.effort import much
from tests.simulation.retention.pruned import AS_LITTLE_AS_POSSIBLE, compare, lived
from tests.simulation.sweep import Rewinding
from tidegate.scheduler.retention.prune import prune_slice

pytestmark = pytest.mark.slow  # whole histories

FEW_STEPS = 80

SLICES_MAX = 10
"""A pass of such a history has fewer."""


@pytest.mark.parametrize("seed", [5, 33])
def test_pruning_changes_no_decision(seed: int) -> None:
    pruned = compare(seed, steps=FEW_STEPS)

    assert pruned.jobs
    assert pruned.events
    assert pruned.runs


@pytest.mark.endurance  # long histories, of which each is played twice
@pytest.mark.parametrize("seed", range(200, 200 + much(2)))
def test_pruning_changes_no_decision_of_a_long_history(seed: int) -> None:
    compare(seed)


@pytest.mark.endurance  # a database, whose statements fail
@pytest.mark.parametrize("seed", range(300, 300 + much(1)))
def test_nor_does_a_process_that_dies_while_it_prunes(seed: int, tmp_path: Path) -> None:
    store = quick_sqlite(tmp_path)
    compare(seed, steps=FEW_STEPS, store=store, rate=0.25)
    store.close()


def test_a_crash_at_any_statement_of_a_slice_leaves_no_trace(rewinding: Rewinding) -> None:
    world = lived(rewinding.store, 5, None, steps=FEW_STEPS)
    points = 0
    for _ in range(SLICES_MAX):
        before = rewinding.snapshot()
        counting = FaultyStore(rewinding.store)
        done = prune_slice(counting, AS_LITTLE_AS_POSSIBLE, world.now, at_once=True)
        counting.release()
        after = dump(rewinding.store)
        rewinding.back_to(before)
        untouched = dump(rewinding.store)
        for point in range(1, counting.points):
            rewinding.back_to(before)
            dying = FaultyStore(rewinding.store)
            dying.fail_at = point
            with pytest.raises(Crash):
                prune_slice(dying, AS_LITTLE_AS_POSSIBLE, world.now, at_once=True)
            dying.release()
            assert dump(rewinding.store) == untouched
            points += 1
        rewinding.back_to(before)
        prune_slice(rewinding.store, AS_LITTLE_AS_POSSIBLE, world.now, at_once=True)
        assert dump(rewinding.store) == after
        if done.ended:
            break
    assert points > SLICES_MAX
