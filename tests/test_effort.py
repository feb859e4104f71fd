"""The endurance tests do more in a soak, and never nothing."""

import pytest

from tests.effort import every, longer, much, only, pick, some


def test_a_number_grows_with_the_effort_and_is_never_zero():
    assert [much(20, effort=effort) for effort in (0, 0.5, 1, 5)] == [1, 10, 20, 100]


def test_a_limit_grows_with_the_effort_and_is_never_shorter():
    assert [longer(60, effort=effort) for effort in (0.5, 1, 5)] == [60, 60, 300]


def test_the_points_of_a_sweep_come_closer_until_all_are_met():
    assert [every(6, effort=effort) for effort in (0.5, 1, 2, 9)] == [12, 6, 3, 1]


def test_cases_are_spread_evenly_and_end_with_all_of_them():
    letters = "abcdefgh"
    assert [some(letters, 2, effort=effort) for effort in (0, 1, 2)] == [["a"], ["a", "e"], list("aceg")]
    assert some(letters, 2, effort=9) == list(letters)


def marked(cases):
    return [(case.values, [mark.name for mark in case.marks]) for case in cases]


def test_cases_that_are_not_picked_are_marked_and_none_is_lost():
    assert marked(pick("abcd", 2)) == [(("a",), []), (("b",), ["soak"]), (("c",), []), (("d",), ["soak"])]


def test_cases_are_named_one_by_one():
    slow = pytest.param("a", 1, marks=pytest.mark.spark)
    assert marked(only([slow, ("b", 2)], ("b", 2))) == [(("a", 1), ["spark", "soak"]), (("b", 2), [])]


def test_a_name_that_is_no_case_is_refused():
    with pytest.raises(AssertionError, match=r"not among the cases: .'c'."):
        only("ab", "c")
