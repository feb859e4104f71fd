"""How much the tests of the endurance tier do: a representative share in `make test`, more in `make soak`.

The environment variable `TESTS_EFFORT` is a factor, 1 by default. Numbers of seeds, histories,
examples and kills are written as `much(n)`: n in `make test`, five times n in a soak of effort 5. A sweep
that strikes each n-th point of all in `make test` says `every(n)`, and strikes at each point in a soak.
Where there is a fixed list of cases, `some(cases, n)` takes n of them, evenly spread, until the
effort reaches all. Every test keeps at least one.
"""

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

EFFORT = float(os.environ.get("TESTS_EFFORT", "1"))


def much(usual: int, *, effort: float = EFFORT) -> int:
    """Scale a number that is right for `make test`."""
    return max(1, round(usual * effort))


def every(usual: int, *, effort: float = EFFORT) -> int:
    """Scale the distance between two points of a sweep: the smaller it is, the more points are met."""
    return max(1, round(usual / effort))


def longer(usual: float, *, effort: float = EFFORT) -> float:
    """Scale a limit in seconds for what does more in a soak; it is never shorter than usual."""
    return usual * max(1.0, effort)


def some(cases: Iterable[T], usual: int, *, effort: float = EFFORT) -> list[T]:
    """Take so many of the cases, the first one among them, evenly spread and in their order."""
    found = list(cases)
    wanted = min(len(found), much(usual, effort=effort))
    return [found[number * len(found) // wanted] for number in range(wanted)]
