"""A step whose JVM has ended: what Dagster shows of it, and how it is ended when it never answers."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from tidegate.spark_jobs.errors import SparkLost
from tidegate.spark_jobs.java import jvm


@contextmanager
def spark_until(seconds: float) -> Generator[None]:
    """Kill the JVM of this process if a block takes longer, so that a call that never answers fails."""
    timer = threading.Timer(seconds, jvm.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def spark_loss(error: Exception, since: int | None = None) -> SparkLost | None:
    """Return the failure of a step whose JVM has ended under it; None if an error has another cause.

    Args:
        since: `jvm.ends` of when the step began.
    """
    if not jvm.was_lost(error, since):
        return None
    return SparkLost(
        f"the JVM of Spark has ended: {type(error).__name__}",
        f"{jvm.WHY_LOST}, or start the run where more is free",
    )
