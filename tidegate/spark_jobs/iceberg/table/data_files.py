"""Compares data files with what the table's metadata says of them: existence and length.

Iceberg never looks: a commit adds a file by its name alone, and a reader notices the loss. Whole folders are
listed instead of asking for each file, unless a folder has only one or two of them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from tidegate.spark_jobs.datasets.table_report import MissingData
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, TableName
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.catalog.java_texts import each

FILES_ASKED = 2
"""Up to so many files of a folder are asked for one by one: on an object store, a listing costs as much."""

Expected = tuple[str, int]
"""Location of a file, and its length in bytes."""


def lost_files(catalog: IcebergCatalog, io: Any, expected: Iterable[Expected]) -> tuple[str, ...]:
    """Return the locations of the files that do not exist or have another length, in order."""
    files = tuple(expected)
    folders: dict[str, list[str]] = {}
    for location, _ in files:
        folder, _, name = location.rpartition("/")
        folders.setdefault(folder, []).append(name)
    sizes = {folder: _sizes(catalog, io, folder, names) for folder, names in folders.items()}
    return tuple(
        location
        for location, length in files
        if sizes[location.rpartition("/")[0]].get(location.rpartition("/")[2]) != length
    )


def _sizes(catalog: IcebergCatalog, io: Any, folder: str, names: Sequence[str]) -> dict[str, int]:
    """Return the length of the files of a folder that exist, at least of those with these names."""
    if len(names) <= FILES_ASKED:
        asked = {name: catalog.files.length(f"{folder}/{name}", io) for name in names}
        found = {name: length for name, length in asked.items() if length is not None}
        if len(found) == len(names):
            return found
    return catalog.files.sizes_in(folder, io)


def lost_data_files(catalog: IcebergCatalog, io: Any, files: Iterable[Any]) -> tuple[str, ...]:
    """Return the locations of those of Iceberg's data files that do not exist or have another length."""
    with java_failures("list the staged data files"):
        expected = [(str(file.location()), int(file.fileSizeInBytes())) for file in files]
    return lost_files(catalog, io, expected)


def missing_data(catalog: IcebergCatalog, name: TableName) -> tuple[MissingData, ...]:
    """Return the partitions of the current snapshot whose data or delete files are lost."""
    table = catalog.table(name)
    snapshot = None if table is None else table.currentSnapshot()
    if table is None or snapshot is None:
        return ()
    with java_failures(f"list the files of {'.'.join(name)}"):
        partitions = _files_by_partition(table, snapshot.snapshotId())
        io = table.io()
        found = {where: lost_files(catalog, io, sorted(files)) for where, files in sorted(partitions.items())}
        again = catalog.table(name)
        newest = None if again is None else again.currentSnapshot()
        if newest is None or newest.snapshotId() != snapshot.snapshotId():
            # Another snapshot was committed meanwhile, and files of this one may have been removed.
            return ()
    return tuple(
        MissingData(
            key=where,
            what=f"its snapshot {snapshot.snapshotId()} refers to {len(lost)} files that do not exist or "
            f"have another length: {lost[0]}" + (", …" if len(lost) > 1 else ""),
        )
        for where, lost in found.items()
        if lost
    )


def _files_by_partition(table: Any, snapshot: int) -> dict[str, set[Expected]]:
    found: dict[str, set[Expected]] = {}
    specs = table.specs()
    tasks = table.newScan().useSnapshot(snapshot).planFiles()
    try:
        for task in each(tasks):
            file = task.file()
            where = str(specs.get(file.specId()).partitionToPath(file.partition()))
            for one in (file, *each(task.deletes())):
                expected = (str(one.location()), int(one.fileSizeInBytes()))
                found.setdefault(where, set()).add(expected)
    finally:
        tasks.close()
    return found
