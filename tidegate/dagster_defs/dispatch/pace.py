"""Keeps a repeated step to a small share of the time, however long it takes.

Comparing the switches of a hundred schedules takes milliseconds, of ten thousand seconds. A
step under a pace is left out until it has earned its time again, so it can never crowd out
what a tick is there for. Lives in the memory of one process: a new one simply begins anew.
"""

from collections.abc import Callable
from time import monotonic

SHARE = 0.05
"""The most of the time that a paced step takes."""


class Pace:
    """The pace of one step."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._next = clock()

    def run(self, step: Callable[[], None]) -> bool:
        """Do the step unless it is too soon; returns whether it was done. A failed one counts too."""
        began = self._clock()
        if began < self._next:
            return False
        try:
            step()
        finally:
            ended = self._clock()
            self._next = ended + (ended - began) * (1 / SHARE - 1)
        return True
