"""Rate limits of the steps that dispatchers repeat at every tick.

    Pace    a share of the time: comparing the switches of a hundred schedules takes milliseconds, of ten
            thousand seconds. After a run the step is skipped for a multiple of its duration.
    Turns   once per interval, whichever dispatcher ticks first: a look at all runs serves every app.

So no step delays the main work of a tick. The state is in the memory of one process; a new process starts
without it.
"""

import threading
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


class Turns:
    """The turns of a step that several dispatchers share; their ticks may be threads."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        """Args:
        seconds: from one turn to the next.
        """
        self._seconds = seconds
        self._clock = clock
        self._next = clock()
        self._lock = threading.Lock()

    def pause(self) -> None:
        """Let the next turn begin a whole time from now."""
        with self._lock:
            self._next = self._clock() + self._seconds

    def run(self, step: Callable[[], None]) -> bool:
        """Run the step unless it is too early; return whether it ran. A failed step is due again at once."""
        with self._lock:
            before, now = self._next, self._clock()
            if now < before:
                return False
            self._next = now + self._seconds
        try:
            step()
        except BaseException:
            self._next = before
            raise
        return True
