"""A scale curve: the processor time of the same work beside more and more of what it does not touch."""

import math
import statistics
import time
from collections.abc import Callable, Sequence

from benchmarks.aims import verdict

ROUNDS = 15
EXPONENT_LIMIT = 0.1
"""The exponent of what is flat, but for the noise of the machine and the depth of an index."""

TURNS = 3_000_000


def print_calibration() -> None:
    """Print what a loop takes, with which figures of other machines can be compared."""
    begun, turns = time.process_time(), 0
    while turns < TURNS:
        turns += 1
    print(f"calibration: {time.process_time() - begun:.2f} s for {TURNS:,} turns of a loop", flush=True)


def print_sizes(what: str, sizes: Sequence[int]) -> None:
    """Print the head of a table of curves."""
    print(f"{what + ', ms of the CPU':32}", *(f"{size:>10,}" for size in sizes), "  exponent", flush=True)


def curve(name: str, sizes: Sequence[int], measures: Sequence[Callable[[], float]], aim: float) -> int:
    """Measure work beside each number of others in turn; print the medians and the exponent of their growth.

    Args:
        measures: returns the seconds of the work once, for each size.
        aim: seconds beside the largest number.

    Returns:
        The number of missed aims.
    """
    rounds = [[measure() for measure in measures] for _ in range(ROUNDS)]
    medians = [statistics.median(each) for each in zip(*rounds, strict=True)]
    logarithms = [[math.log(value) for value in values] for values in (sizes, medians)]
    exponent = statistics.linear_regression(*logarithms).slope
    print(f"{name:32}", *(f"{1000 * each:10.2f}" for each in medians), f"{exponent:10.2f}", flush=True)
    return verdict(f"{name} beside {sizes[-1]:,}", medians[-1], aim, " s") + verdict(
        f"{name}, exponent", exponent, EXPONENT_LIMIT
    )
