"""Rate limits of the steps that dispatchers repeat at every tick.

    Pace    a share of the time: comparing the switches of a hundred schedules takes milliseconds, of ten
            thousand seconds. After a run the step is skipped for a multiple of its duration.
    Turns   once per interval, whichever dispatcher ticks first: a look at all runs serves every app.

So no step delays the main work of a tick. The state is in the memory of one process; a new process starts
without it.

The ticks of one evaluation: several, where the interval is shorter than Dagster's round. Dagster's daemon
evaluates a sensor every five seconds at most. With `tick_seconds = 1`, an evaluation ticks each second
until the next round is near, or until there is a run to request: Dagster gets the requests when the
evaluation ends. Meanwhile it holds a thread of the code server, so one dispatcher of a process does this at
a time. The others tick once; the ticks of the one ingest and decide for their apps too.
"""

import threading
import time
from collections.abc import Callable, Generator
from time import monotonic

ROUND_SECONDS = 5.0
"""Dagster's `MIN_INTERVAL_LOOP_TIME`: from one evaluation of a sensor to the next."""

RESERVE_SECONDS = 0.5
"""What Dagster needs to take over the result. An evaluation that ends later costs the next round."""


class Rounds:
    """The evaluations of the dispatchers of a process; they may be threads."""

    def __init__(
        self,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Args:
        seconds: from one tick to the next.
        """
        self._seconds = seconds
        self._clock = clock
        self._sleep = sleep
        self._free = threading.Lock()

    def ticks(self) -> Generator[None]:
        """Yield when the evaluation has to tick: at once, and again while its round lasts."""
        began = self._clock()
        yield
        if self._seconds >= ROUND_SECONDS or not self._free.acquire(blocking=False):
            return
        try:
            tick_seconds = self._clock() - began
            due = began + self._seconds
            while max(due, self._clock()) + tick_seconds <= began + ROUND_SECONDS - RESERVE_SECONDS:
                self._sleep(max(0.0, due - self._clock()))
                yield
                due += self._seconds
        finally:
            self._free.release()


SHARE = 0.05
"""The maximum share of time that a paced step takes."""


class Pace:
    """The pace of one step."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._next = clock()

    def run(self, step: Callable[[], object]) -> bool:
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

    def run(self, step: Callable[[], object]) -> bool:
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
