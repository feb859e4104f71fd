"""The operation expire_snapshots on a Parquet table of a dataset: old versions, and the folders of no other.

Each publish removes versions by number (`parquet.prune`); here their age decides. A version is as old as the
time since it was the newest, so a reader that began within that time finds all its files. What unfinished
sequences need stays.
"""

from datetime import datetime

from tidegate.spark_jobs.commit.sequence import decode_sequence
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.maintenance.parquet.health import newest_version, version_times
from tidegate.spark_jobs.maintenance.progress import Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest
from tidegate.spark_jobs.parquet.prune import Unfinished, prune, version_folders


def expire_versions(request: OperationRequest, context: MaintenanceContext, progress: Progress) -> None:
    """Remove the old versions of a table.

    Raises:
        TableGone, SourceError: see `newest_version`.
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
    # In this order, see `parquet.prune`.
    folders = version_folders(files, root)
    bodies = [store.get(commit) for commit in store.list_unfinished(ref.id)]
    unfinished = Unfinished(root, tuple(decode_sequence(body) for body in bodies if body is not None))
    older_than = float(request.options["older_than"])
    retain = max(1, int(request.options["retain_last"]))
    keep = max(retain, _young(files, root, older_than, context.clock.now()))
    versions, gone = prune(files, root, folders, unfinished, keep)
    progress.add(snapshots_expired=versions, folders_deleted=gone)
    if unfinished.oldest_base is not None:
        progress.results["kept"] = {
            str(unfinished.oldest_base): "an unfinished commit; this version and all after it"
        }


def _young(files: FileSystem, root: str, older_than: float, now: datetime) -> int:
    """Return the number of versions that were the newest less than `older_than` seconds ago."""
    cutoff = (now.timestamp() - older_than) * 1000
    times = sorted(version_times(files, root).items())
    ended = [time for _, time in times[1:]]
    return 1 + sum(time > cutoff for time in ended)
