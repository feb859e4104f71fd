"""Parquet tables in maintenance; see `maintenance.formats.MaintainedFormat` for each method.

The operation expire_snapshots on a Parquet table of a dataset: old versions, and the folders of no other.
Each publish removes versions by number (`parquet.prune`); here their age decides. A version is as old as
the time since it was the newest, so a reader that began within that time finds all its files. What
unfinished sequences need stays.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from pyspark.sql import SparkSession

from tidegate.domain.maintenance.reported import Health
from tidegate.domain.model import HealthRules, Operation
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.maintenance.kept import among_the_last, counted, younger_than
from tidegate.spark_jobs.maintenance.parquet.compaction import compact
from tidegate.spark_jobs.maintenance.parquet.health import measure_parquet, newest_version, version_times
from tidegate.spark_jobs.maintenance.progress import Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest, TableTarget
from tidegate.spark_jobs.parquet.prune import prune_table
from tidegate.spark_jobs.parquet.version_log import version_numbers

UNFINISHED = "an unfinished commit; this version and all after it"


def expire_versions(request: OperationRequest, context: MaintenanceContext, progress: Progress) -> None:
    """Remove the old versions of a table.

    Raises:
        TableGone, LandedFiles: see `newest_version`.
        TimedOut, Yielded: before it began.
    """
    ref, warehouse, store = request.table.ref, context.warehouse, context.store
    assert ref is not None, "only a dataset is in Parquet"
    assert warehouse is not None, "a dataset has a warehouse"
    assert store is not None, "a dataset is published through the store"
    progress.add(snapshots_expired=0, folders_deleted=0)
    progress.pause()
    newest_version(ref, warehouse)
    files, root = warehouse.files, ref.root(warehouse)
    older_than, retain = float(request.options["older_than"]), max(1, int(request.options["retain_last"]))
    cutoff = context.clock.now().timestamp() - older_than
    kept = _last_ones(files, root, cutoff * 1000, retain)
    pruned = prune_table(files, root, ref.id, store, oldest=kept[0] if kept else 0)
    progress.add(snapshots_expired=pruned.versions, folders_deleted=pruned.folders)
    if pruned.oldest_base is not None:
        progress.results["kept"] = {str(pruned.oldest_base): UNFINISHED}
    progress.results |= counted(_reasons(version_numbers(files, root), kept, retain, older_than))


def _last_ones(files: FileSystem, root: str, cutoff_ms: float, retain: int) -> list[int]:
    """Return the last versions, and those that were the newest after an instant; the oldest first."""
    times = sorted(version_times(files, root).items())
    ended = [time for _, time in times[1:]]
    keep = max(retain, 1 + sum(time > cutoff_ms for time in ended))
    return sorted(number for number, _ in times[-keep:])


def _reasons(
    left: Sequence[int], kept: Sequence[int], retain: int, older_than: float
) -> Iterator[tuple[int, str]]:
    """Yield each version that is left with its reason."""
    for number in left:
        if kept and number >= kept[max(0, len(kept) - retain)]:
            yield number, among_the_last(retain)
        elif kept and number >= kept[0]:
            yield number, younger_than(older_than)
        else:
            yield number, UNFINISHED


OPERATIONS: Mapping[Operation, Callable[[OperationRequest, MaintenanceContext, Progress], None]] = {
    Operation.REWRITE_DATA_FILES: compact,
    Operation.EXPIRE_SNAPSHOTS: expire_versions,
}
"""What carries out the operations that Parquet tables need."""

NOTHING_TO_DO: Mapping[Operation, str] = {
    Operation.REWRITE_MANIFESTS: "a Parquet table has no manifests",
    Operation.REMOVE_ORPHAN_FILES: (
        "the recovery of commits removes what dead runs have staged,"
        " and each publish the folders of no version"
    ),
}
"""Why there is nothing to do for the others."""


class MaintainedParquet:
    """Tables of datasets only: no catalog lists other ones."""

    needs_recovery = True

    def measure(
        self,
        spark: SparkSession,
        table: TableTarget,
        rules: HealthRules,
        now: datetime,
        warehouse: Warehouse | None,
    ) -> Health:
        assert warehouse is not None, f"{table.name} is in a warehouse"
        assert table.ref is not None, "only a dataset is in Parquet"
        return measure_parquet(table.ref, warehouse, rules, now)

    def run(self, context: MaintenanceContext, request: OperationRequest, progress: Progress) -> None:
        if request.operation in OPERATIONS:
            OPERATIONS[request.operation](request, context, progress)
        else:
            progress.not_applicable(NOTHING_TO_DO.get(request.operation, "a Parquet table has no need of it"))
