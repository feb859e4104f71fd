"""Jobs of a session for which their cluster has no executor: reported, and ended after a limit.

A cluster without free workers accepts an application and gives it nothing. Spark then waits without end, and
says so in its own log alone. So a thread of each session of a cluster looks whether there are jobs and no
executor: at its start, and later, when the last executor was lost or released. It asks Spark's status, which
costs no job, and ends with its session.
"""

import logging
import threading
import time
from typing import TYPE_CHECKING, Any

from tidegate.spark_jobs.errors import ClusterRefused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

LIMIT = "spark.tidegate.executorWait"
"""The property with the longest wait, as Spark writes times; 0 waits without end."""
DEFAULT_LIMIT = "30min"
"""Longer than most runs that keep a cluster busy: a run that queues behind them waits for their end."""
SIGN_SECONDS = 60
"""The start of an executor takes less."""
LOOK_SECONDS = 5

NO_EXECUTOR = "because the cluster has given no executor for "
"""Spark puts these words behind "Job 7 cancelled"."""
REMEDY = (
    "its workers are busy, away, or have less memory or fewer cores than spark.executor.memory and"
    f" spark.executor.cores ask for; {LIMIT} says how long a run waits"
)


def watch(spark: "SparkSession", master: str) -> None:
    """Start to look whether the jobs of a session wait for an executor.

    Raises:
        ClusterRefused: the limit is not a time.
    """
    from py4j.protocol import Py4JJavaError

    context: Any = spark.sparkContext
    conf = context._jsc.sc().conf()
    try:
        limit = int(conf.getTimeAsSeconds(LIMIT, DEFAULT_LIMIT))
    except Py4JJavaError as error:
        found = conf.get(LIMIT)
        raise ClusterRefused(f'{LIMIT} must be a time, got "{found}"', 'write for example "30min"') from error
    waiting = Waiting(context, master, limit)
    # A daemon thread: a JVM that hangs must not keep the process from ending.
    threading.Thread(target=waiting.run, name=f"executors of {master}", daemon=True).start()


class Waiting:
    """How long the jobs of a session have waited without an executor.

    Args:
        context: the SparkContext.
        limit: seconds after which they are ended; 0: never.
    """

    def __init__(self, context: Any, master: str, limit: int) -> None:
        self._context, self._master, self._limit = context, master, limit
        self._waited = 0
        self._said = False

    def run(self) -> None:
        """Look again and again, until the session or its JVM has ended."""
        from py4j.protocol import Py4JError

        while self._context._jsc is not None:
            try:
                self.look()
            except (Py4JError, OSError, AttributeError):
                return
            time.sleep(LOOK_SECONDS)

    def look(self) -> None:
        """Look once. Only looks are counted: a machine that sleeps does not wait."""
        scala: Any = self._context._jsc.sc()
        status = scala.statusTracker()
        jobs = list(status.getActiveJobIds())
        # One is the driver itself.
        if not jobs or len(status.getExecutorInfos()) > 1:
            self._waited, self._said = 0, False
            return
        self._waited += LOOK_SECONDS
        if self._limit and self._waited >= self._limit:
            for job in jobs:
                scala.cancelJob(job, f"{NO_EXECUTOR}{shown(self._limit)}: {REMEDY}")
        elif self._waited >= SIGN_SECONDS and not self._said:
            self._said = True
            until = (
                f"the run fails after {shown(self._limit)}" if self._limit else "the run waits without end"
            )
            log.warning(
                "%s has given no executor for %d s: %s; %s", self._master, self._waited, REMEDY, until
            )


def shown(seconds: int) -> str:
    """Return a time in words."""
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"
