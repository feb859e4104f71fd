"""Random histories of repairs: none is lost, doubled or endless, and the tables are as if all came in time.

Input comes late, twice, or again, within the bounds and beyond them; launches are lost and refused, runs fail
and die, the scheduler crashes, schedules are changed, retention prunes. The twin of a history is the one in
which all data came in time; whatever key is within its bounds has the same table in both, and so has what
came too late once a person has replayed it.
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.doubles.dump import dump
from tests.doubles.quick_sqlite import quick_sqlite
from tests.doubles.reference.store import ReferenceStore
from tests.effort import much
from tests.simulation.repairs.app import READS
from tests.simulation.repairs.twin import history
from tests.tally import reach

pytestmark = pytest.mark.slow  # whole histories

FEW = (*range(10), 18)
"""They meet all that is below, with few histories."""
MET = (
    *("provisional", "repair", "dependant", "D-REPAIR", "replayed"),
    *("refused", "reset", "carry", "pruned"),
)
WHAT = "tables of keys equal to those of data in time"


def test_a_few_histories_end_with_the_tables_of_data_that_came_in_time() -> None:
    met = Counter[str]()
    for seed in FEW:
        world = history(ReferenceStore(), seed)
        assert world.store.crashes, "the dice killed no process"
        met += world.oracle.met
    assert not [each for each in MET if not met[each]], met
    assert not [name for name in READS if not met[f"{name} repaired, and as in time"]], met
    assert met["as in time"] > met["beyond"]
    reach(WHAT, met["as in time"])


def test_a_crash_before_the_commit_leaves_no_trace() -> None:
    undisturbed = dump(history(ReferenceStore(), 1, rate=0.0).store)
    assert dump(history(ReferenceStore(), 1, after_commit=False).store) == undisturbed


@pytest.mark.endurance
@pytest.mark.parametrize("seed", range(5_000, 5_000 + much(1)))
def test_histories_on_sqlite(seed: int, tmp_path: Path) -> None:
    store = quick_sqlite(tmp_path)
    reach(WHAT, history(store, seed, steps=30).oracle.met["as in time"])
    store.close()


@pytest.mark.soak
@pytest.mark.endurance
@pytest.mark.parametrize("lot", range(much(4)))
def test_many_histories(lot: int) -> None:
    for seed in range(1_000 + 10 * lot, 1_010 + 10 * lot):
        reach(WHAT, history(ReferenceStore(), seed).oracle.met["as in time"])
