"""Random histories in which people override what was deployed, and data is expected by a deadline."""

from collections import Counter
from pathlib import Path

import pytest

from tests.doubles.dump import dump
from tests.doubles.quick_sqlite import quick_sqlite
from tests.effort import much
from tests.simulation.paced import compare_paces
from tests.simulation.people.paced import inputs_of_people
from tests.simulation.people.world import history
from tests.tally import reach
from tidegate.scheduler.store.memory.store import MemoryStore

FEW = (1, 8, 13, 17)
"""They meet all that is below, with few histories; in 1 an override ends over missed fires without jobs."""

ENDS = {
    *(("status", cause) for cause in ("expired", "undone", "reverted", "deleted")),
    *(("text", cause) for cause in ("expired", "deployed", "reverted")),
    *(("held", cause) for cause in ("expired", "undone")),
}

pytestmark = pytest.mark.slow  # whole histories

WHAT = "simulated histories with overrides and deadlines"


def test_a_few_histories_keep_the_promises_and_meet_every_end() -> None:
    ended, late, landed = Counter[tuple[str, str]](), Counter[str](), set[tuple[str, str]]()
    for seed in FEW:
        world = history(MemoryStore(), seed, after_commit=True)
        assert world.store.crashes, "the dice killed no process"
        ended += world.oracle.ended
        late += world.oracle.expected.late
        landed |= world.oracle.expected.landed
    assert not ENDS - ended.keys()
    assert late.keys() == {"raw", "hourly", "chunks", "plain"}
    assert {dataset for dataset, _ in landed} == late.keys()


def test_a_crash_before_the_commit_leaves_no_trace_in_memory_and_on_sqlite(tmp_path: Path) -> None:
    undisturbed = dump(history(MemoryStore(), 0, steps=60, rate=0.0).store)
    assert dump(history(MemoryStore(), 0, steps=60).store) == undisturbed
    store = quick_sqlite(tmp_path)
    assert dump(history(store, 0, steps=60).store) == undisturbed
    store.close()


@pytest.mark.endurance
def test_people_change_the_same_at_every_pace() -> None:
    compare_paces(0, ("600 s", "at random"), given=inputs_of_people)


@pytest.mark.soak
@pytest.mark.endurance
@pytest.mark.parametrize("seed", range(1, 1 + much(4)))
def test_so_they_do_in_other_histories(seed: int) -> None:
    compare_paces(seed, ("7 s", "600 s", "at random"), given=inputs_of_people)
    reach("paces compared", 3)


@pytest.mark.endurance
@pytest.mark.parametrize("lot", range(much(1)))
def test_many_histories_in_memory(lot: int) -> None:
    for seed in range(100 + 3 * lot, 103 + 3 * lot):
        history(MemoryStore(), seed, after_commit=True)
        reach(WHAT)


@pytest.mark.endurance
@pytest.mark.parametrize("seed", range(5_000, 5_000 + much(1)))
def test_histories_on_sqlite(seed: int, tmp_path: Path) -> None:
    store = quick_sqlite(tmp_path)
    history(store, seed, steps=60, after_commit=True)
    store.close()
    reach(WHAT)
