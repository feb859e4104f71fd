"""Exponential back-off: the pause before the next try."""

from datetime import timedelta


def back_off(first: timedelta, tries: int) -> timedelta:
    """Return the pause after a number of failed tries: `first`, then twice as long each time."""
    return first * 2 ** max(tries - 1, 0)
