"""The ticks of one evaluation: several, where the interval is shorter than Dagster's round.

Dagster's daemon evaluates a sensor every five seconds at most. With `tick_seconds = 1`, an evaluation ticks
each second until the next round is near, or until there is a run to request: Dagster gets the requests when
the evaluation ends. Meanwhile it holds a thread of the code server, so one dispatcher of a process does
this at a time. The others tick once; the ticks of the one ingest and decide for their apps too.
"""

import threading
import time
from collections.abc import Callable, Generator

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
