"""A scale curve: the processor time of the same work beside more and more of what it does not touch."""

import math
import statistics
from collections.abc import Callable, Sequence

from benchmarks.aims import verdict
from benchmarks.processor import TURNS, calibrated

ROUNDS = 15
EXPONENT_LIMIT = 0.1
"""The exponent of what is flat, but for the noise of the machine and the depth of an index."""

Measure = Callable[[], float]


def print_calibration() -> None:
    """Print what a loop takes, with which figures of other machines can be compared."""
    print(f"calibration: {calibrated():.2f} s for {TURNS:,} turns of a loop", flush=True)


def print_sizes(what: str, sizes: Sequence[int], unit: str = "ms of the CPU") -> None:
    """Print the head of a table of curves."""
    print(f"{f'{what}, {unit}':64}", *(f"{size:>10,}" for size in sizes), "  exponent", flush=True)


def print_curve(name: str, values: Sequence[float], exponent: float) -> None:
    """Print a line of the table."""
    print(f"{name:64}", *(f"{each:10.2f}" for each in values), f"{exponent:10.2f}", flush=True)


def exponent_of(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the exponent of the growth of some values: 0 if they are equal, 1 if they grow as the sizes."""
    logarithms = [[math.log(each) for each in numbers] for numbers in (sizes, values)]
    return statistics.linear_regression(*logarithms).slope


def medians(measures: Sequence[Measure], rounds: int = ROUNDS) -> list[float]:
    """Measure beside each number of others in turn, and return the medians."""
    taken = [[measure() for measure in measures] for _ in range(rounds)]
    return [statistics.median(each) for each in zip(*taken, strict=True)]


def curve(name: str, sizes: Sequence[int], measures: Sequence[Measure], aim: float) -> int:
    """Measure work beside each number of others, and print the medians and the exponent of their growth.

    Args:
        measures: returns the seconds of the work once, for each size.
        aim: seconds beside the largest number.

    Returns:
        The number of missed aims.
    """
    found = medians(measures)
    exponent = exponent_of(sizes, found)
    print_curve(name, [1000 * each for each in found], exponent)
    return verdict(f"{name} beside {sizes[-1]:,}", found[-1], aim, " s") + verdict(
        f"{name}, exponent", exponent, EXPONENT_LIMIT
    )
