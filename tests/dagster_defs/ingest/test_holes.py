"""Holes: which ids are missing, what fills them, and when they are abandoned."""

from datetime import UTC, datetime, timedelta

import pytest

from tidegate.dagster_defs.ingest.position import HOLE_SECONDS, HOLES_MAX, Hole, gaps, still_open, without

T0 = datetime(2023, 3, 10, 12, 0, tzinfo=UTC)


def hole(first: int, last: int, since: datetime = T0) -> Hole:
    return Hole(first=first, last=last, since=since)


@pytest.mark.parametrize(
    ("after", "ids", "expected"),
    [
        (0, [], []),
        (0, [1, 2, 3], []),
        (5, [6, 7], []),
        (5, [7], [(6, 6)]),
        (5, [7, 10], [(6, 6), (8, 9)]),
        (5, [1000], [(6, 999)]),
    ],
)
def test_gaps_are_the_ids_between(after: int, ids: list[int], expected: list[tuple[int, int]]) -> None:
    assert [(h.first, h.last) for h in gaps(after, ids, T0)] == expected


@pytest.mark.parametrize(
    ("holes", "appeared", "expected"),
    [
        ([(6, 6)], [6], []),
        ([(6, 9)], [6], [(7, 9)]),
        ([(6, 9)], [9], [(6, 8)]),
        ([(6, 9)], [7], [(6, 6), (8, 9)]),
        ([(6, 9)], [9, 6, 7], [(8, 8)]),
        ([(6, 9), (12, 12)], [12, 3], [(6, 9)]),
        ([(6, 9)], [], [(6, 9)]),
    ],
)
def test_what_appears_leaves_the_rest_of_a_hole(
    holes: list[tuple[int, int]], appeared: list[int], expected: list[tuple[int, int]]
) -> None:
    remaining = without([hole(*ends) for ends in holes], appeared)

    assert [(h.first, h.last) for h in remaining] == expected
    assert all(h.since == T0 for h in remaining), "a part of a hole is as old as the whole"


def test_a_hole_is_given_up_only_after_its_time() -> None:
    at_the_limit = T0 + timedelta(seconds=HOLE_SECONDS)

    assert still_open([hole(6, 6)], at_the_limit) == (hole(6, 6),)
    assert still_open([hole(6, 6)], at_the_limit + timedelta(seconds=1)) == ()


def test_a_hole_is_kept_for_at_least_a_minute() -> None:
    assert HOLE_SECONDS >= 60


def test_of_too_many_holes_the_newest_are_kept() -> None:
    many = [hole(2 * n, 2 * n) for n in range(HOLES_MAX + 10)]

    assert still_open(many, T0) == tuple(many[10:])
