"""Tens of thousands of ticks in memory: long histories, in which schedulers tick again and again."""

import pytest

from tests.simulation.history import FAULT_RATE, history
from tests.tally import PROMISED, reach
from tidegate.scheduler.store.memory.store import MemoryStore

pytestmark = pytest.mark.endurance  # tens of thousands of ticks

LOTS = 2
STEPS = 600
TICKS_IN_A_ROW = 10


@pytest.mark.parametrize("lot", range(LOTS))
def test_the_promises_are_kept_for_many_ticks(lot: int) -> None:
    ticks, seed = 0, 10_000 * (lot + 1)
    while ticks < PROMISED["simulated ticks in memory"] / LOTS:
        seed += 1
        ticks += history(
            MemoryStore(),
            seed,
            steps=STEPS,
            rate=FAULT_RATE,
            after_commit=True,
            ticks_in_a_row=TICKS_IN_A_ROW,
        ).ticks
    reach("simulated ticks in memory", ticks)
