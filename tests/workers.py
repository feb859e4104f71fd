"""Which worker takes which file, and how long a test may take.

Files with a Spark session go to one worker, as long as there are others. A session costs seconds of processor
time, and its JVM is slow until it has compiled what it often does. So the first worker begins with Spark, and
one other starts a JVM of its own when nothing else is left; the rest are done then. The others give way to
the first one a little (`give_way`), which has the longest queue. Files of one folder that share what is
built for all of them are taken together.
"""

import os
import threading
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from time import monotonic, sleep  # by name: a test that replaces one in its module does not reach the watch
from typing import Any

import pytest
import pytest_timeout
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

ROOT = Path(__file__).parent.parent
TOGETHER = ("tests/installed", "tests/launcher", "tests/dagster_defs/live")
"""Those of one folder install one wheel, those of the others have one project with a code server."""

WITH_SPARK = ("tests/spark_jobs/", "tests/dagster_defs/io_manager/")
"""Where files get the session from fixtures of their folder."""

MOST_JVMS = 2
"""How many workers start a session: each one more costs its start, and compiles all again."""

NICE = 3
"""By how much workers without Spark lower their priority, and so that of the processes that they start."""

LOOK_SECONDS = 1.0
"""How often a worker looks whether the time of a test is up."""


class Scheduling(LoadFileScheduling):
    """Hand out files to workers."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self._places: dict[WorkerController, dict[str, int]] = {}

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        sessions = sum(map(self._has_spark, self.nodes))
        if not self._has_spark(node) and sessions >= MOST_JVMS and all(map(needs_spark, self.workqueue)):
            node.shutdown()
            return
        scope = choose(self.workqueue, self._has_spark(node), sessions > 0)
        self.assigned_work.setdefault(node, {})[scope] = unit = self.workqueue.pop(scope)
        if node not in self._places:
            collected = self.registered_collections[node]
            self._places[node] = {nodeid: place for place, nodeid in enumerate(collected)}
        places = self._places[node]
        # As the class above does, but that it looks for each test in the list of all: twelve thousand times.
        node.send_runtest_some([places[nodeid] for nodeid, ended in unit.items() if not ended])

    def _has_spark(self, node: WorkerController) -> bool:
        return any(needs_spark(scope) for scope in self.assigned_work[node])


def scope_of(nodeid: str) -> str:
    """Return what a worker takes at once: a file, or a folder of `TOGETHER`."""
    file = nodeid.split("::", 1)[0]
    return next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), file)


def choose(scopes: Iterable[str], has_spark: bool, some_has_spark: bool) -> str:
    """Return the first scope that suits a worker, or the first of all.

    Args:
        has_spark: this worker has a session.
        some_has_spark: any worker has one.
    """
    queue = list(scopes)
    wanted = has_spark or not some_has_spark
    return next((scope for scope in queue if needs_spark(scope) == wanted), queue[0])


def give_way(scope: str) -> None:
    """Lower the priority of this worker, which begins with a file that needs no session."""
    if not needs_spark(scope):
        os.nice(NICE)


@cache
def needs_spark(scope: str) -> bool:
    """Whether tests of a file use the session of their worker; live tests have processes with their own."""
    file = ROOT / scope
    if not file.is_file():
        return False
    text = file.read_text("utf-8")
    return "SparkSession" in text or (scope.startswith(WITH_SPARK) and "pytest.mark.spark" in text)


class Limits:
    """When the time of the test that runs is up: one thread watches all tests.

    pytest-timeout starts a thread for each, and waits for its end: half of what a test of a millisecond took.

    Args:
        end: ends this process, and says what its threads do.
    """

    def __init__(self, end: Any = pytest_timeout.timeout_timer, look_seconds: float = LOOK_SECONDS) -> None:
        self._end, self._look_seconds = end, look_seconds
        self._running: tuple[float, pytest.Item, Any] | None = None
        self._thread = threading.Thread(target=self._watch, name="limits of tests", daemon=True)

    def begin(self, item: Any, settings: Any) -> None:
        """Note when the time of a test is up; pytest-timeout calls its `cancel_timeout` at its end."""
        self._running = monotonic() + settings.timeout, item, settings
        item.cancel_timeout = self.cancel
        if not self._thread.ident:
            self._thread.start()

    def cancel(self) -> None:
        """The test has ended."""
        self._running = None

    def _watch(self) -> None:
        while True:
            sleep(self._look_seconds)
            running = self._running
            if running is not None and monotonic() > running[0]:
                self._end(*running[1:])


LIMITS = Limits()
"""Those of this process."""
