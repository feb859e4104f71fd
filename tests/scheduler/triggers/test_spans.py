"""Stretches of time: where at least n of several hold, and what a part of a trigger may see."""

import pytest

from tests.worlds.world import at
from tidegate.scheduler.decision.triggers.collected import Collected, Scope
from tidegate.scheduler.decision.triggers.spans import FOREVER, Span, overlap


def spans(*stretches: str) -> tuple[Span, ...]:
    """`10:00-11:00` ends at that instant, which belongs to it; `10:00-` never ends."""
    found = []
    for stretch in stretches:
        start, _, end = stretch.partition("-")
        found.append(Span(at(start), at(end) if end else FOREVER))
    return tuple(found)


A = ("10:00-11:00", "14:00-")
ROWS = [
    ("one of two", 1, A, ("10:30-12:00",), ("10:00-12:00", "14:00-")),
    ("both", 2, A, ("10:30-12:00",), ("10:30-11:00",)),
    ("both, twice", 2, A, ("10:30-",), ("10:30-11:00", "14:00-")),
    ("both, at an instant only", 2, A, ("11:00-12:00",), ("11:00-11:00",)),
    ("both, which never meet", 2, A, ("12:00-13:00",), ()),
    ("an end before the next begins", 1, ("10:00-11:00", "12:00-13:00"), (), ("10:00-11:00", "12:00-13:00")),
]


@pytest.mark.parametrize(("sentence", "n", "one", "other", "expected"), ROWS, ids=[row[0] for row in ROWS])
def test_overlap(sentence, n, one, other, expected):
    assert overlap([spans(*one), spans(*other)], n) == spans(*expected)


def test_a_sight_only_narrows():
    nothing = Collected(by_leaf={}, key="", datasets={})
    scope = Scope(nothing, at("12:00"))
    assert scope.after(at("10:00")).after(at("09:00")) == scope.after(at("10:00"))
    assert scope.after(at("09:00")).after(at("10:00")) == scope.after(at("10:00"))
