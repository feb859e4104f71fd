"""The pace: a step takes its share of the time and no more."""

import pytest

from tests.doubles.clock import Clock
from tidegate.dagster_defs.dispatch.pace import SHARE, Pace, Turns


def test_a_quick_step_is_always_done() -> None:
    pace = Pace(Clock())

    assert [pace.run(lambda: None) for _ in range(3)] == [True, True, True]


def test_a_slow_step_waits_until_it_has_earned_its_time() -> None:
    clock = Clock()
    pace = Pace(clock)

    assert pace.run(lambda: clock.let_pass(2))
    clock.let_pass(2 / SHARE - 2 - 0.1)
    assert not pace.run(lambda: clock.let_pass(2))
    clock.let_pass(0.2)
    assert pace.run(lambda: clock.let_pass(2))


def test_a_failed_step_has_taken_its_time_too() -> None:
    clock = Clock()
    pace = Pace(clock)

    def fail() -> None:
        clock.let_pass(2)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        pace.run(fail)
    assert not pace.run(fail)


def test_a_turn_comes_once_per_interval_whoever_asks() -> None:
    clock, done = Clock(), list[str]()
    turns = Turns(10, clock)

    assert turns.run(lambda: done.append("first"))
    clock.let_pass(9.9)
    assert not turns.run(lambda: done.append("too early"))
    clock.let_pass(0.1)
    assert turns.run(lambda: done.append("second"))
    assert done == ["first", "second"]


def test_a_turn_that_failed_comes_again_at_once() -> None:
    clock, done = Clock(), list[str]()
    turns = Turns(10, clock)

    def fail() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        turns.run(fail)
    assert turns.run(lambda: done.append("again"))
    assert not turns.run(fail)
