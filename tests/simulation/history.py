"""One seed, one history, from the first deployment to the judgement at its end."""

import random
from collections.abc import Callable
from typing import TypeVar

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.chance.world import ChanceWorld
from tests.simulation.kept_counts import counted_from
from tests.simulation.slices import caught_up_in_slices
from tidegate.scheduler.store.protocol import Store

T = TypeVar("T")

STEPS = 120
FAULT_RATE = 0.25


def history(
    store: Store,
    seed: int,
    *,
    steps: int = STEPS,
    rate: float = 0.0,
    after_commit: bool = False,
    ticks_in_a_row: int = 1,
    retries: bool = False,
) -> ChanceWorld:
    """Play one history; it raises where the engine broke a promise.

    Args:
        rate: the chance of each transaction to fail.
        after_commit: whether some of those fail when the commit is done and unheard of.
        ticks_in_a_row, retries: see `ChanceWorld`.
    """

    def play(faulty: FaultyStore) -> ChanceWorld:
        world = ChanceWorld(faulty, seed, ticks_in_a_row, retries=retries)
        world.live(steps)
        world.settle()
        return world

    what = f"seed {seed} with {steps} steps failed"
    return played(store, seed, rate, what, play, after_commit=after_commit)


def played(
    store: Store,
    seed: int,
    rate: float,
    what: str,
    play: Callable[[FaultyStore], T],
    *,
    after_commit: bool = False,
) -> T:
    """Play on a store that fails, and leave it alone again.

    Args:
        rate, after_commit: see `history`.
        what: what is said of a play that raises.
    """
    faulty = FaultyStore(store, random.Random(~seed), rate, after_commit=after_commit)
    try:
        with counted_from(seed), caught_up_in_slices(seed):
            return play(faulty)
    except Exception as error:
        raise AssertionError(f"{what}: {error}") from error
    finally:
        faulty.release()
