"""Random histories of maintenance, with crashes and errors of the store between any two of its calls."""

from pathlib import Path

import pytest

from tests.doubles.quick_sqlite import quick_sqlite
from tests.doubles.reference.store import ReferenceStore
from tests.effort import much
from tests.simulation.maintenance.world import history
from tests.tally import reach

FEW = (1, 4)
"""They meet all that is below, with as few histories as can."""

HAPPENS = {
    *("succeeded", "failed", "conflict", "stopped"),
    *("by_hand", "probe", "forced", "excluded"),
    *("E-TABLE", "E-POLICY", "E-ACTIVE"),
    *("M-BUDGET", "W-CONCURRENCY", "full hour"),
}


def test_a_few_histories_keep_the_promises_and_meet_everything() -> None:
    happened: set[str] = set()
    for seed in FEW:
        world = history(ReferenceStore(), seed)
        assert world.store.crashes, "the dice killed no process"
        happened |= world.happened | set(world.refused)
    assert not HAPPENS - happened


@pytest.mark.endurance
@pytest.mark.parametrize("seeds", range(much(2)))
def test_many_histories_in_memory(seeds: int) -> None:
    for seed in range(100 + 6 * seeds, 106 + 6 * seeds):
        history(ReferenceStore(), seed)
        reach("simulated histories of maintenance")


@pytest.mark.endurance
@pytest.mark.parametrize("seed", range(5_000, 5_000 + much(1)))
def test_histories_on_sqlite(seed: int, tmp_path: Path) -> None:
    store = quick_sqlite(tmp_path)
    history(store, seed, steps=60)
    store.close()
    reach("simulated histories of maintenance")
