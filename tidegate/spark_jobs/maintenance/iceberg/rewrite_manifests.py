"""The operation rewrite_manifests: writes the manifests of the current snapshot again, sorted by partition.

Iceberg's action does it, with retries of its own when others append meanwhile. It is called only if fewer
manifests would hold the same entries, since it would otherwise write the same ones again at each run.
"""

from math import ceil
from typing import Any

from py4j.protocol import Py4JJavaError

from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable, is_lost_race
from tidegate.spark_jobs.maintenance.iceberg.manifest_files import Manifest, manifests_of
from tidegate.spark_jobs.maintenance.iceberg.replacement import LABEL
from tidegate.spark_jobs.maintenance.progress import RACE_TRIES, LostRace, Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest

TARGET_PROPERTY = "commit.manifest.target-size-bytes"
TARGET_BYTES = 8 * 1024 * 1024
"""Iceberg's default."""


def rewrite_manifests(
    table: CatalogTable, request: OperationRequest, _context: MaintenanceContext, progress: Progress
) -> None:
    """Write the manifests of a table again, if that makes them fewer.

    Raises:
        LostRace: other writers were faster each time.
        TimedOut, Yielded: before it began.
    """
    progress.add(manifests_rewritten=0, manifests_added=0)
    failure: Py4JJavaError | None = None
    for _ in range(RACE_TRIES):
        progress.pause()
        java = table.load()
        if not _may_be_fewer(java):
            return
        action = table.actions().rewriteManifests(java)
        action.snapshotProperty(LABEL, request.job or request.operation)
        try:
            with table.exclusive():
                result = action.execute()
        except Py4JJavaError as error:
            if not is_lost_race(error):
                raise
            failure = error
            continue
        progress.add(
            manifests_rewritten=sum(1 for _ in each(result.rewrittenManifests())),
            manifests_added=sum(1 for _ in each(result.addedManifests())),
        )
        return
    raise LostRace(f"other writers changed the manifests {RACE_TRIES} times in a row") from failure


def _may_be_fewer(java: Any) -> bool:
    snapshot = java.currentSnapshot()
    if snapshot is None:
        return False
    target, spec = int(java.properties().get(TARGET_PROPERTY) or TARGET_BYTES), int(java.spec().specId())
    # The action rewrites those of the current partitioning.
    mine = [one for one in manifests_of(java, snapshot) if int(one.java.partitionSpecId()) == spec]
    kinds: tuple[list[Manifest], ...] = (
        [one for one in mine if not one.deletes],
        [one for one in mine if one.deletes],
    )
    return any(len(kind) > max(1, ceil(sum(one.length for one in kind) / target)) for kind in kinds)
