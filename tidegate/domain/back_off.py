"""Exponential back-off: the pause before the next try."""

from datetime import timedelta

LONGEST_PAUSE = timedelta(days=366)
"""No pause is longer: that is the longest duration of the language, and far below what a date can hold."""

_STEPS_MAX = 1_000
"""More steps change nothing: the longest pause is reached, or the pause does not grow."""


def back_off(first: timedelta, tries: int, factor: float = 2) -> timedelta:
    """Return the pause after a number of failed tries: `first`, then `factor` times as long each time.

    Args:
        factor: 1 or more.
    """
    pause = first
    for _ in range(min(tries - 1, _STEPS_MAX)):
        if pause >= LONGEST_PAUSE:
            break
        pause *= factor
    return min(pause, LONGEST_PAUSE)
