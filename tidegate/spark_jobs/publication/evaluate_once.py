"""Evaluates once what several outputs of a run have in common, where a second evaluation could differ.

    plans of the outputs ─► parts that several have ─► those that may differ ─► cached ─► outputs are written

Spark evaluates each output by a query of its own. `current_timestamp`, `rand` and Python functions in a part
that two outputs share would then give each output other values. So such a part is cached under its plan:
Spark finds it there in the query of every output, whatever else that query does. Parts that only
read and compute are left alone, so most programs pay nothing.

The rows are in memory and on the local disks of the executors. With `checkpoint` they are in files too,
from which Spark reads them when an executor is lost; with `cache` it would evaluate them again.
"""

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.storagelevel import StorageLevel

from tidegate.domain.model.dataset import EvaluateOnce
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.java.jvm import call_with
from tidegate.spark_jobs.programs.own_session import frame_of_plan

log = logging.getLogger(__name__)

CHANGING = re.compile(
    r"(?i:current_(timestamp|date|time)|localtimestamp|\bnow)\(|\)#\d+|\bUDF\b"
    r"|In(Pandas|Arrow)|Python|(Logical|External)RDD|Limit|Sample|Deduplicate"
)
"""In the text of a plan: an expression, a source or a choice of rows that may differ at a second evaluation.

`)#7` ends the call of a Python function. Names of columns may match too: then a part is cached needlessly.
"""
ALL_FIELDS = 2**31 - 1
"""Plans are searched whole; Spark's texts leave out fields beyond the 25th."""


@contextmanager
def evaluated_once(
    spark: SparkSession,
    outputs: Mapping[str, DataFrame],
    how: EvaluateOnce,
    warehouse: Warehouse,
    token: int,
) -> Iterator[None]:
    """Evaluate shared parts of the outputs once while a block writes them.

    Args:
        token: the fencing token of the run; names its checkpoints.
    """
    folder = warehouse.checkpoints(token)
    with ExitStack() as stack:
        for plan in () if how == "never" or len(outputs) < 2 else shared_plans(list(outputs.values())):
            frame = frame_of_plan(spark, plan)
            frame.persist(StorageLevel.MEMORY_AND_DISK)
            stack.callback(frame.unpersist)
            log.info("evaluated once for several outputs: %s", plan.nodeName())
            if how == "checkpoint":
                stack.callback(warehouse.files.delete, folder)
                _checkpoint(spark, frame, folder)
        yield


def shared_plans(outputs: Sequence[DataFrame]) -> list[Any]:
    """Return the largest parts that several outputs share and that may differ, small ones first.

    A part within another one comes before it: what is cached later uses what is cached already.
    """
    roots = [_java(frame).queryExecution().analyzed() for frame in outputs]
    owners: dict[int, set[int]] = {}
    found: dict[int, Any] = {}
    for number, root in enumerate(roots):
        for plan, _ in _nodes(root):
            owners.setdefault(plan.semanticHash(), set()).add(number)
    for root in roots:
        for plan, above in _nodes(root):
            key = plan.semanticHash()
            mine = owners[key]
            if len(mine) > 1 and (above is None or owners[above.semanticHash()] != mine):
                found.setdefault(key, plan)
    return sorted((plan for plan in found.values() if may_differ(plan)), key=_size)


def may_differ(plan: Any) -> bool:
    """Return whether a second evaluation of a plan may give other rows."""
    if not plan.deterministic():
        return True
    text = call_with(plan.treeString, True, False, ALL_FIELDS, False, newer=False)
    return bool(CHANGING.search(text))


def _nodes(root: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each part of a plan with the part above it, which comes before it."""
    waiting: list[tuple[Any, Any]] = [(root, None)]
    while waiting:
        plan, above = waiting.pop()
        yield plan, above
        children = plan.children()
        waiting += [(children.apply(number), plan) for number in range(children.size())]


def _size(plan: Any) -> int:
    return sum(1 for _ in _nodes(plan))


def _java(frame: DataFrame) -> Any:
    return frame._jdf


def _checkpoint(spark: SparkSession, frame: DataFrame, folder: str) -> None:
    """Write the cached rows into files, from which Spark reads those that it loses."""
    java: Any = spark._jsparkSession
    cached = java.sharedState().cacheManager().lookupCachedData(_java(frame)).get().cachedRepresentation()
    rows = cached.cacheBuilder().cachedColumnBuffers()
    spark.sparkContext.setCheckpointDir(folder)
    rows.checkpoint()
    rows.count()
