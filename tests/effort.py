"""How much the tests of the endurance tier do: a representative share in `make test`, more in `make soak`.

The environment variable `TESTS_EFFORT` is a factor, 1 by default. Numbers of seeds, histories,
examples and kills are written as `much(n)`: n in `make test`, five times n in a soak of effort 5. A sweep
that strikes each n-th point of all in `make test` says `every(n)`, and strikes at each point in a soak.
Where there is a fixed list of cases, `some(cases, n)` takes n of them, evenly spread, until the
effort reaches all. Every test keeps at least one.

What `make test` proves once, with one table, is proved again with the other formats, modes, stores or
processes by tests with the mark `soak`: whole tests, or the other cases of `pick(cases, n)` and of
`only(cases, …)`. They run as soon as the effort is more than 1.
"""

import os
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest
from _pytest.mark.structures import ParameterSet

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


def pick(cases: Iterable[Any], usual: int) -> list[ParameterSet]:
    """Mark all cases as `soak` but so many that are evenly spread, the first one among them."""
    found = list(cases)
    return _marked(found, set(some(range(len(found)), usual, effort=1)))


def only(cases: Iterable[Any], *usual: Any) -> list[ParameterSet]:
    """Mark all cases as `soak` but those that are named."""
    found = list(cases)
    unknown = [case for case in usual if case not in found]
    assert not unknown, f"not among the cases: {unknown}"
    return _marked(found, {place for place, case in enumerate(found) if case in usual})


def _marked(cases: list[Any], usual: set[int]) -> list[ParameterSet]:
    made = [
        case
        if isinstance(case, ParameterSet)
        else pytest.param(*(case if isinstance(case, tuple) else (case,)))
        for case in cases
    ]
    return [
        case if place in usual else case._replace(marks=(*case.marks, pytest.mark.soak))
        for place, case in enumerate(made)
    ]
