"""Writes the rows of groups of files into new files, as Iceberg's own action does, and commits nothing.

The files of a group are read with their deletes applied, in splits of the target size, and each split becomes
a file. Groups are independent of each other, so a few are rewritten at once. What was written for a slice
that fails is removed.
"""

import logging
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from tidegate.spark_jobs.iceberg.catalog.failures import IcebergFailure, StaleTable, java_failures
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.iceberg.catalog.table_cache import cached_table
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable
from tidegate.spark_jobs.maintenance.iceberg.plan import Group, Plan
from tidegate.spark_jobs.maintenance.progress import MaintenanceRefused

GROUPS_AT_ONCE = 4
"""Small groups leave most cores of a cluster idle."""
STRATEGIES = ("binpack", "sort")

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rewritten:
    """A group, and the data files that were written for it, as Iceberg's own objects.

    Attributes:
        deletes: delete files that name rows of its old data files alone, so that they go with these.
    """

    group: Group
    added: tuple[Any, ...]
    deletes: tuple[Any, ...] = ()

    @property
    def removed(self) -> list[Any]:
        """The data files that it replaces."""
        return list(each(self.group.java.rewrittenFiles()))


def rewrite_groups(
    table: CatalogTable, plan: Plan, groups: Sequence[Group], strategy: str = "binpack"
) -> list[Rewritten]:
    """Rewrite the groups of a slice.

    Args:
        plan: the plan that they are from.
        strategy: see `check_strategy`.
    """
    done: list[Rewritten] = []
    with ThreadPoolExecutor(min(GROUPS_AT_ONCE, len(groups))) as pool:
        futures = [pool.submit(_rewrite, table, plan, group, strategy) for group in groups]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            done = [future.result() for future in futures]
        except BaseException as error:
            for future in futures:
                future.cancel()
            wait(futures)
            if isinstance(error, Exception):
                discard(plan.java, [one for future in futures if (one := _result(future)) is not None])
            raise
    return done


def discard(java: Any, rewritten: Sequence[Rewritten]) -> None:
    """Remove files that were written and cannot be committed. What cannot be removed now is an orphan."""
    try:
        with java_failures("remove files that are not committed"):
            io = java.io()
            for one in rewritten:
                for file in one.added:
                    io.deleteFile(file.location())
    except (IcebergFailure, StaleTable) as error:
        log.warning("%s; remove_orphan_files removes them later", error)


def check_strategy(java: Any, strategy: str) -> None:
    """Accept the strategies "binpack", and "sort" for a table with a sort order.

    Raises:
        MaintenanceRefused: the strategy is unknown, or the table has no sort order.
    """
    if strategy not in STRATEGIES:
        raise MaintenanceRefused(
            f"the strategy {strategy!r} is not known", f"write one of {', '.join(STRATEGIES)}"
        )
    if strategy == "sort" and java.sortOrder().isUnsorted():
        raise MaintenanceRefused(
            f"{java.name()} has no sort order",
            "set one with ALTER TABLE … WRITE ORDERED BY …, or write binpack",
        )


def _result(future: Future[Rewritten]) -> Rewritten | None:
    return None if future.cancelled() or future.exception() is not None else future.result()


def _rewrite(table: CatalogTable, plan: Plan, group: Group, strategy: str) -> Rewritten:
    java, task = plan.java, str(uuid.uuid4())
    session = _session(table, group, strategy)
    spark = table.api.spark
    tasks, written = spark.ScanTaskSetManager.get(), spark.FileRewriteCoordinator.get()
    with cached_table(table.cache, task, java):
        tasks.stageTasks(java, task, group.java.fileScanTasks())
        try:
            rows = (
                session.read()
                .format("iceberg")
                .option("scan-task-set-id", task)
                .option("split-size", group.java.inputSplitSize())
                .option("file-open-cost", "0")
                .load(task)
            )
            (
                rows.write()
                .format("iceberg")
                .option("rewritten-file-scan-task-set-id", task)
                .option("target-file-size-bytes", group.java.maxOutputFileSize())
                .option("distribution-mode", _distribution(java, group, strategy))
                .option("output-spec-id", group.java.outputSpecId())
                .mode("append")
                .save(task)
            )
            added = tuple(each(written.fetchNewFiles(java, task)))
            return Rewritten(group=group, added=added, deletes=tuple(_deletes(table, plan, group)))
        finally:
            tasks.removeTasks(java, task)
            written.clearRewrite(java, task)


def _deletes(table: CatalogTable, plan: Plan, group: Group) -> Iterator[Any]:
    if plan.start is not None and not plan.start.deleteManifests(plan.java.io()).isEmpty():
        content = table.api.util.ContentFileUtil
        for task in each(group.java.fileScanTasks()):
            yield from (file for file in each(task.deletes()) if content.isFileScoped(file))


def _session(table: CatalogTable, group: Group, strategy: str) -> Any:
    """Return a copy of the session, active in this thread, that writes as many files as are planned."""
    own: Any = table.spark._jsparkSession
    session = own.cloneSession()
    conf = session.conf()
    # Adaptive execution would merge the splits.
    conf.set("spark.sql.adaptive.enabled", "false")
    if strategy == "sort":
        conf.set("spark.sql.shuffle.partitions", str(max(1, group.java.expectedOutputFiles())))
    table.java.org.apache.spark.sql.SparkSession.setActiveSession(session)
    return session


def _distribution(java: Any, group: Group, strategy: str) -> str:
    """Return how rows are spread over tasks: a file of an earlier partitioning may have any partition."""
    specs = {int(task.file().specId()) for task in each(group.java.fileScanTasks())}
    return "range" if strategy == "sort" or specs != {int(java.spec().specId())} else "none"
