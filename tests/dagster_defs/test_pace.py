"""The pace: a step takes its share of the time and no more."""

import pytest

from tidegate.dagster_defs.dispatch.pace import SHARE, Pace


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += seconds


def test_a_quick_step_is_always_done() -> None:
    pace = Pace(Clock())

    assert [pace.run(lambda: None) for _ in range(3)] == [True, True, True]


def test_a_slow_step_waits_until_it_has_earned_its_time() -> None:
    clock = Clock()
    pace = Pace(clock)

    assert pace.run(lambda: clock.pass_(2))
    clock.pass_(2 / SHARE - 2 - 0.1)
    assert not pace.run(lambda: clock.pass_(2))
    clock.pass_(0.2)
    assert pace.run(lambda: clock.pass_(2))


def test_a_failed_step_has_taken_its_time_too() -> None:
    clock = Clock()
    pace = Pace(clock)

    def fail() -> None:
        clock.pass_(2)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        pace.run(fail)
    assert not pace.run(fail)
