"""Back-off: how long to wait before the next try of what has failed so often."""

from datetime import timedelta


def back_off(first: timedelta, tries: int) -> timedelta:
    """Return the pause after so many failed tries: `first`, then twice as long each time."""
    return first * 2 ** max(tries - 1, 0)
