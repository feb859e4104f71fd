"""One seed, one history, from the first deployment to the judgement at its end."""

import random

from tests.simulation.chance.world import ChanceWorld
from tests.simulation.faulty_store import FaultyStore
from tidegate.scheduler.store.protocol import Store

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
    faulty = FaultyStore(store, random.Random(~seed), rate, after_commit=after_commit)
    try:
        world = ChanceWorld(faulty, seed, ticks_in_a_row, retries=retries)
        world.live(steps)
        world.settle()
    except Exception as error:
        raise AssertionError(f"seed {seed} with {steps} steps failed: {error}") from error
    finally:
        faulty.release()
    return world
