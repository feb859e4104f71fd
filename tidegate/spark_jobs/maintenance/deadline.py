"""Ends a run of an operation when its timeout is over, also in the middle of a Spark job.

Between two commits an operation asks by itself. A thread asks meanwhile, and cancels the jobs of this
process: the operation fails then, and what it has not committed is not in the table. The session of an
operation runs nothing else.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from tidegate.spark_jobs.commit.clock import Clock
from tidegate.spark_jobs.maintenance.progress import TimedOut
from tidegate.spark_jobs.maintenance.request import Control

POLL_SECONDS = 10.0

log = logging.getLogger(__name__)


@contextmanager
def ended_by(control: Control, spark: SparkSession, clock: Clock) -> Iterator[None]:
    """Cancel the Spark jobs of a block once `control` says that it must stop.

    Raises:
        TimedOut: the block failed after that.
    """
    stop, over = threading.Event(), threading.Event()
    context: Any = spark.sparkContext

    def watch() -> None:
        while not clock.wait(stop, POLL_SECONDS):
            try:
                if control.should_stop():
                    over.set()
                    context.cancelAllJobs()
            except Exception as error:  # noqa: BLE001 -- the operation itself asks again
                log.warning("could not ask whether the timeout is over: %s", error)

    thread = threading.Thread(target=watch, name="timeout of an operation", daemon=True)
    thread.start()
    try:
        yield
    except Exception as error:
        if over.is_set():
            raise TimedOut from error
        raise
    finally:
        stop.set()
        thread.join()
