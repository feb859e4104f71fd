"""The health of a Parquet table of a dataset, from its newest version and the folders that it names.

Versions are what snapshots are elsewhere; there are no manifests and no delete files.
"""

from collections.abc import Iterator
from datetime import datetime

from tidegate.domain.maintenance.reported import Health
from tidegate.domain.model import HealthRules
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.maintenance.file_counts import File, count_files, extrapolated, spread, values_of
from tidegate.spark_jobs.maintenance.progress import LandedFiles, TableGone
from tidegate.spark_jobs.parquet.folders.publish_folder import data_files
from tidegate.spark_jobs.parquet.version_log import VERSIONS_FOLDER, TableVersion, head, version_numbers

NONE_OF_THEM = {"delete_files": 0, "delete_ratio": 0, "manifests": 0, "manifest_size": 0}


def newest_version(ref: DatasetRef, warehouse: Warehouse) -> TableVersion:
    """Return the newest version of a table.

    Raises:
        TableGone: no program has published into it.
        LandedFiles: its files are landed from outside.
    """
    version = head(warehouse.files, ref.root(warehouse))
    if version.is_published:
        return version
    if ref.path is None:
        raise TableGone(f"{ref.id} was never published")
    raise LandedFiles(
        f"{ref.id} is landed from outside; only tables that programs write are maintained",
        "leave it out of the policy, or compact its files where they come from",
    )


def measure_parquet(ref: DatasetRef, warehouse: Warehouse, rules: HealthRules, now: datetime) -> Health:
    """Measure a table as it is now; for errors see `newest_version`."""
    files, root = warehouse.files, ref.root(warehouse)
    version = newest_version(ref, warehouse)
    total = sum(entry.files for entry in version.partitions.values())
    sample = rules.sample if rules.sample is not None and rules.sample < total else None
    counts, note = extrapolated(count_files(_files(files, root, version, sample), rules), total)
    times = version_times(files, root)
    values = values_of(counts) | NONE_OF_THEM | {"snapshots": len(times)}
    if times:
        values["newest_snapshot_age"] = _age(max(times.values()), now)
        values["oldest_snapshot_age"] = _age(min(times.values()), now)
    return Health(measured_at=now, values=values, note=note)


def version_times(files: FileSystem, root: str) -> dict[int, int]:
    """Return when each existing version was put, in milliseconds since 1970 UTC, the oldest first."""
    numbers = frozenset(version_numbers(files, root))
    listed = files.list(f"{root}/{VERSIONS_FOLDER}")
    named = {entry.name.removesuffix(".json"): entry.modified_ms for entry in listed}
    return {int(name): time for name, time in named.items() if name.isdigit() and int(name) in numbers}


def _files(files: FileSystem, root: str, version: TableVersion, limit: int | None) -> Iterator[File]:
    """Yield the files of a version; with a limit, those of folders taken evenly from all, about so many."""
    folders = [(key, path) for key, entry in sorted(version.partitions.items()) for path in entry.folders]
    if limit is not None:
        total = sum(entry.files for entry in version.partitions.values())
        folders = spread(folders, max(1, len(folders) * limit // total))
    for key, path in folders:
        for size in data_files(files, f"{root}/{path}").values():
            yield File(partition=key, size=size, rows=0)


def _age(milliseconds: int, now: datetime) -> float:
    return max(0.0, now.timestamp() - milliseconds / 1000)
