"""The operation rewrite_data_files on an Iceberg table: small files of a partition become few large ones.

    plan ─► for each slice: stop? yield? ─► rewrite with Spark ─► commit
      ▲                                                             │ groups that others have changed
      └─────────────── planned again, up to 3 times ◄───────────────┘

A partition that another writer replaces all the time is left as it is once the others are compacted. Only a
run that could commit nothing has lost the race.
"""

import logging

from py4j.protocol import Py4JJavaError

from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.java.jvm import java_message
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable, is_lost_race
from tidegate.spark_jobs.maintenance.iceberg.plan import Group, Plan, plan_groups
from tidegate.spark_jobs.maintenance.iceberg.replacement import commit_slice
from tidegate.spark_jobs.maintenance.iceberg.rewriter import check_strategy, discard, rewrite_groups
from tidegate.spark_jobs.maintenance.progress import RACE_TRIES, LostRace, Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest
from tidegate.spark_jobs.maintenance.slicing import slices

log = logging.getLogger(__name__)


def rewrite_data_files(
    table: CatalogTable, request: OperationRequest, _context: MaintenanceContext, progress: Progress
) -> None:
    """Compact a table.

    Raises:
        MaintenanceRefused: see `check_strategy`.
        LostRace: nothing could be committed, since other writers were faster each time.
        TimedOut, Yielded: between two slices.
    """
    ref = request.table.ref
    if request.excluded and (ref is None or ref.scheme is None):
        progress.not_applicable("all of it is left out, since a pipeline writes it")
        return
    progress.add(files_rewritten=0, files_added=0, bytes_added=0, commits=0)
    lost = 0
    for _ in range(RACE_TRIES):
        progress.pause()
        java = table.load()
        check_strategy(java, _strategy(request))
        plan = plan_groups(table, java, request.options, ref, request.excluded)
        lost = 0
        for part in slices(plan.groups, int(request.options["max_commits"])):
            progress.pause()
            lost += _rewrite_slice(table, plan, part, request, progress)
        if not lost:
            break
        progress.lose(lost)
    else:
        if not progress.changed:
            raise LostRace(f"other writers changed the files of {lost} groups, {RACE_TRIES} times in a row")
    _remove_dangling_deletes(table, progress)


def _rewrite_slice(
    table: CatalogTable, plan: Plan, groups: list[Group], request: OperationRequest, progress: Progress
) -> int:
    """Rewrite and commit one slice. Return the number of groups that others have changed."""
    rewritten = rewrite_groups(table, plan, groups, _strategy(request))
    committed = commit_slice(table, plan.start, rewritten, request.job or request.operation)
    done = committed.done
    progress.bytes += sum(one.group.bytes for one in done)
    progress.add(
        files_rewritten=sum(one.group.files for one in done),
        files_added=sum(len(one.added) for one in done),
        bytes_added=sum(int(file.fileSizeInBytes()) for one in done for file in one.added),
        commits=1 if done else 0,
    )
    deletes = {str(file.location()) for one in done for file in one.deletes}
    if deletes:
        progress.add(delete_files_removed=len(deletes))
    discard(plan.java, committed.lost)
    return len(committed.lost)


def _strategy(request: OperationRequest) -> str:
    return str(request.options["strategy"])


def _remove_dangling_deletes(table: CatalogTable, progress: Progress) -> None:
    """Remove other delete files that apply to no data file any more, unless other writers are faster."""
    if not progress.changed:
        return
    java = table.load()
    snapshot = java.currentSnapshot()
    if snapshot is None or snapshot.deleteManifests(java.io()).isEmpty():
        return
    progress.pause()
    try:
        with table.exclusive():
            result = table.actions().removeDanglingDeleteFiles(java).execute()
    except Py4JJavaError as error:
        if not is_lost_race(error):
            raise
        log.info("delete files of %s stay until the next compaction: %s", table.name, java_message(error))
        return
    progress.add(delete_files_removed=sum(1 for _ in each(result.removedDeleteFiles())))
