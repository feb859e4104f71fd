"""Which worker takes which file: those with a Spark session go to one, as long as there are others.

A session costs seconds of processor time, and its JVM is slow until it has compiled what it often does.
So the first worker begins with Spark, and another one starts a JVM of its own only when nothing else is left.
Files of one folder that share what is built for all of them are taken together.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

ROOT = Path(__file__).parent.parent
TOGETHER = ("tests/installed", "tests/launcher")
"""Those of one folder install one wheel, those of the other have one project with a code server."""

WITH_SPARK = ("tests/spark_jobs/", "tests/dagster_defs/io_manager/")
"""Where files get the session from fixtures of their folder."""


class Scheduling(LoadFileScheduling):
    """Hand out files to workers."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self._places: dict[WorkerController, dict[str, int]] = {}

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)

    def _assign_work_unit(self, node: WorkerController) -> None:
        scope = choose(self.workqueue, self._has_spark(node), any(map(self._has_spark, self.nodes)))
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


@cache
def needs_spark(scope: str) -> bool:
    """Whether tests of a file use the session of their worker; live tests have processes with their own."""
    file = ROOT / scope
    if not file.is_file():
        return False
    text = file.read_text("utf-8")
    return "SparkSession" in text or (scope.startswith(WITH_SPARK) and "pytest.mark.spark" in text)
