"""No decision depends on how often the scheduler ticks, nor on the order of a dictionary.

The same inputs (arrivals, runs of others, commands, deployments, numbers), at the same instants, give
the same jobs with the same ids, manifests, arguments, reasons and instants of decision, the same
discards, and the same entries in the journal, whether ticks come every second or every ten minutes.

What may differ is when a request really leaves: with the first tick after its decision, not before.
So may, therefore, the offers of a launch and when its run begins and ends; and what these ends set free
or trigger follows them. Here the runs live by a clock of their own, so nothing of that is left over:
all that is compared is equal to the letter. Two things are left out: how often a launch was offered,
for no person is asked here, and the engine's clock, which an idle tick does not write.
A scheduler that did nothing for more than fifteen minutes was away, and does not count as a slow one.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.effort import much, some
from tests.simulation.paced import compare_paces
from tests.tally import reach

SEEDS = [
    0,
    *(pytest.param(seed, marks=(pytest.mark.endurance, pytest.mark.soak)) for seed in range(1, 1 + much(1))),
]
"""An ordinary run plays the first one; `test_people_of_chance` has another one at two paces."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_inputs_give_the_same_decisions_at_every_pace(seed: int) -> None:
    compare_paces(seed, ("7 s", "600 s", "at random"))
    reach("paces compared", 3)


@pytest.mark.soak
@pytest.mark.endurance  # 43,200 ticks
def test_a_tick_every_second_gives_them_too() -> None:
    compare_paces(0, ("1 s",))
    reach("paces compared")


@pytest.mark.endurance  # a process for each
def test_neither_dictionary_order_nor_hash_seed_matters() -> None:
    digests = {digest(hash_seed) for hash_seed in some(("0", "4711", "1"), 2)}
    assert len(digests) == 1


def digest(hash_seed: str) -> str:
    code = (
        "import hashlib, json\n"
        "from tidegate.scheduler.store.memory.store import MemoryStore\n"
        "from tests.doubles.dump import dump\n"
        "from tests.simulation.history import history\n"
        "dumps = [dump(history(MemoryStore(), seed, rate=0.2).store) for seed in range(2)]\n"
        "print(hashlib.sha256(json.dumps(dumps).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return answer.stdout
