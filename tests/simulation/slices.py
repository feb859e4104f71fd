"""Histories in which a tick makes few jobs of missed fires, so that a night away takes many of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from tidegate.scheduler.decision import fires, missed

JOBS = (2, 1, 1_000)
MOST = (100_000, 5, 100_000, 3)


@contextmanager
def caught_up_in_slices(seed: int) -> Iterator[None]:
    """The limits of catching up are those of a seed meanwhile."""
    before = fires.JOBS_PER_TICK, missed.CAUGHT_UP_MAX
    fires.JOBS_PER_TICK, missed.CAUGHT_UP_MAX = JOBS[seed % len(JOBS)], MOST[seed % len(MOST)]
    try:
        yield
    finally:
        fires.JOBS_PER_TICK, missed.CAUGHT_UP_MAX = before
