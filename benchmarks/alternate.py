"""Two measurements in turns, so that other load of the machine affects both, and their medians."""

import gc
import statistics
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.instant import TickReport
from tidegate.scheduler.tick.tick import tick

IDLE_STEP = timedelta(milliseconds=100)


def medians(few: Callable[[], float], many: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Return the medians of the seconds that alternating repetitions return; the order alternates too."""
    few_times: list[float] = []
    many_times: list[float] = []
    # A garbage collection would affect one of the two by chance.
    gc.collect()
    gc.disable()
    try:
        for round_ in range(rounds):
            if round_ % 2:
                few_times.append(few())
                many_times.append(many())
            else:
                many_times.append(many())
                few_times.append(few())
    finally:
        gc.enable()
    return statistics.median(few_times), statistics.median(many_times)


def idle_ticks(store: Store, now: datetime) -> Callable[[], float]:
    """Return what measures a tick at which nothing is due; the one before, which may find work, is not."""
    tick(store, now)
    ticks = 0

    def idle() -> float:
        nonlocal ticks
        ticks += 1
        at = now + ticks * IDLE_STEP
        begun = time.perf_counter()
        report = tick(store, at)
        seconds = time.perf_counter() - begun
        assert report == TickReport(), report
        return seconds

    return idle
