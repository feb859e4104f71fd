"""`wait_at_most` at composites and at members (rules 16 and 20)."""

import pytest

from tests.worlds.arrivals import A, B, p, r, satisfied
from tests.worlds.world import World, at

TWO = "[{partitions: {dataset: raw}}, {partitions: {dataset: other}}]"

WAITS = [
    ("a wait that is not over", f"{{all: {TWO}, wait_at_most: 3h}}", [p("10:00", "raw", A)], "12:59", None),
    (
        "a wait holds at its very end",
        f"{{all: {TWO}, wait_at_most: 3h}}",
        [p("10:00", "raw", A)],
        "13:00",
        "13:00",
    ),
    (
        "it counts from its end, not from the look",
        f"{{all: {TWO}, wait_at_most: 3h}}",
        [p("10:00", "raw", A)],
        "20:00",
        "13:00",
    ),
    (
        "later events do not move it",
        f"{{all: {TWO}, wait_at_most: 3h}}",
        [p("10:00", "raw", A), p("12:00", "raw", B)],
        "20:00",
        "13:00",
    ),
    (
        "what holds sooner holds sooner",
        f"{{all: {TWO}, wait_at_most: 3h}}",
        [p("10:00", "raw", A), p("11:00", "other", B)],
        "20:00",
        "11:00",
    ),
    (
        "what holds later has held by waiting",
        f"{{all: {TWO}, wait_at_most: 3h}}",
        [p("10:00", "raw", A), p("15:00", "other", B)],
        "20:00",
        "13:00",
    ),
    (
        "a wait at a member lets the others decide",
        "{all: [{partitions: {dataset: raw}, wait_at_most: 1h}, {partitions: {dataset: other}}]}",
        [p("10:00", "other", A)],
        "20:00",
        "11:00",
    ),
    (
        "a wait at one member does not excuse the other",
        "{all: [{partitions: {dataset: raw}, wait_at_most: 1h}, {partitions: {dataset: other}}]}",
        [p("10:00", "raw", A)],
        "20:00",
        None,
    ),
    (
        "a member's wait that ends before the other comes",
        "{all: [{partitions: {dataset: raw}, wait_at_most: 1h}, {partitions: {dataset: other}}]}",
        [p("10:00", "raw", A), p("15:00", "other", A)],
        "20:00",
        "15:00",
    ),
    (
        "a wait at a half-collected count",
        "{partitions: {dataset: raw, count: 3}, wait_at_most: 2h}",
        [p("10:00", "raw", A)],
        "20:00",
        "12:00",
    ),
    (
        "a composite of which nothing has come never fires by waiting",
        f"{{all: [{{all: {TWO}, wait_at_most: 1h}}, {{run: {{program: r}}}}]}}",
        [r("10:00", "r", "succeeded")],
        "20:00",
        None,
    ),
    (
        "a composite of which something has come does",
        f"{{all: [{{all: {TWO}, wait_at_most: 1h}}, {{run: {{program: r}}}}]}}",
        [r("10:00", "r", "succeeded"), p("10:30", "raw", A)],
        "20:00",
        "11:00",
    ),
    (
        "any: a member's wait is enough",
        "{any: [{partitions: {dataset: raw, count: 5}, wait_at_most: 1h}, {partitions: {dataset: other}}]}",
        [p("10:00", "raw", A)],
        "20:00",
        "11:00",
    ),
]


@pytest.mark.parametrize(
    ("sentence", "trigger", "arrivals", "look", "expected"), WAITS, ids=[w[0] for w in WAITS]
)
def test_wait_at_most(sentence, trigger, arrivals, look, expected):
    assert satisfied(trigger, arrivals, look=look) == {"": None if expected is None else at(expected)}


def test_the_end_of_a_wait_is_the_next_check():
    world = World(f"s: {{program: q, status: active, trigger: {{all: {TWO}, wait_at_most: 3h}}}}")
    world.arrive("10:00", "raw", A)
    world.tick("10:00")
    assert world.only("s").next_check_at == at("13:00")
    world.arrive("11:00", "raw", B)
    world.tick("11:00")
    assert world.only("s").next_check_at == at("13:00")
