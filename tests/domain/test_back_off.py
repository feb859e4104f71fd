"""The pause before the next try grows by its factor, up to the longest pause."""

from datetime import timedelta

import pytest

from tidegate.domain.back_off import LONGEST_PAUSE, back_off

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("tries", "factor", "pause"),
    [
        (1, 2, MINUTE),
        (2, 2, 2 * MINUTE),
        (4, 2, 8 * MINUTE),
        (3, 1, MINUTE),
        (3, 1.5, 2.25 * MINUTE),
        (100, 2, LONGEST_PAUSE),
        (1_000_000_000, 1, MINUTE),
    ],
)
def test_the_pause_after_a_number_of_failed_tries(tries: int, factor: float, pause: timedelta) -> None:
    assert back_off(MINUTE, tries, factor) == pause


def test_a_first_pause_beyond_the_longest_is_cut() -> None:
    assert back_off(2 * LONGEST_PAUSE, 1) == LONGEST_PAUSE
