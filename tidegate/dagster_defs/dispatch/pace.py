"""A rate limit that keeps a repeated step to a small share of the time.

Comparing the switches of a hundred schedules takes milliseconds, of ten thousand seconds. After
a run the step is skipped for a multiple of its duration, so it never delays the main work of a
tick. The state is in the memory of one process; a new process starts without it.
"""

from collections.abc import Callable
from time import monotonic

SHARE = 0.05
"""The maximum share of time that a paced step takes."""


class Pace:
    """The pace of one step."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._next = clock()

    def run(self, step: Callable[[], None]) -> bool:
        """Run the step unless it is too early; return whether it ran. A failed step counts as run."""
        began = self._clock()
        if began < self._next:
            return False
        try:
            step()
        finally:
            ended = self._clock()
            self._next = ended + (ended - began) * (1 / SHARE - 1)
        return True
