"""The data files of a table as values, and the comparison of files with what the metadata says of them.

Iceberg never looks whether a file exists with its length: a commit adds it by its name alone, and a reader
notices the loss. Whole folders are listed instead of asking for each file, unless a folder has only one or
two of them. Java's lists of files are read by a few calls, however many files there are.
"""

from collections.abc import Iterable
from typing import Any

from tidegate.domain.value import Value
from tidegate.spark_jobs.datasets.table_report import MissingData
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, TableName
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.java.elements import Method

FILES_ASKED = 2
"""Up to so many files of a folder are asked for one by one: on an object store, a listing costs as much."""

NO_PARTITION_VALUE = "(null)"
CONTENT_FILE = "org.apache.iceberg.ContentFile"
STRING = "java.lang.String"

Expected = tuple[str, int]
"""Location of a file, and its length in bytes."""


class DataFile(Value, kw_only=True):
    """A data file.

    Attributes:
        values: the values of the partition columns in order.
        bytes: its size.
        spec: the number of its partitions' columns in its table, which counts how they have changed.
    """

    values: tuple[str, ...]
    location: str
    rows: int
    bytes: int
    spec: int


def data_files(catalog: IcebergCatalog, files: Any, dimensions: int) -> tuple[DataFile, ...]:
    """Convert a Java list of Iceberg's data files to values.

    Args:
        dimensions: the number of partition columns.
    """
    own = ("location", "recordCount", "fileSizeInBytes", "specId")
    partition = Method(CONTENT_FILE, "partition")
    locations, rows, sizes, specs, *columns = catalog.elements.columns(
        files,
        *((Method(CONTENT_FILE, name),) for name in own),
        *((partition, _value(n)) for n in range(dimensions)),
    )
    values = zip(*columns, strict=True) if columns else (() for _ in locations)
    return tuple(
        DataFile(
            # An empty text may be none: only the file itself has the difference.
            values=found if all(found) else partition_values(catalog, files.get(number), dimensions),
            location=locations[number],
            rows=int(rows[number]),
            bytes=int(sizes[number]),
            spec=int(specs[number]),
        )
        for number, found in enumerate(values)
    )


def _value(dimension: int) -> Method:
    return Method("org.apache.iceberg.StructLike", "get", ("int", "java.lang.Class"), (dimension, STRING))


def partition_values(catalog: IcebergCatalog, file: Any, dimensions: int) -> tuple[str, ...]:
    """Return the values of the partition columns of Iceberg's data or delete file, in order."""
    partition = file.partition()
    values = [partition.get(number, catalog.text) for number in range(dimensions)]
    return tuple(NO_PARTITION_VALUE if value is None else value for value in values)


def lost_files(catalog: IcebergCatalog, io: Any, expected: Iterable[Expected]) -> tuple[str, ...]:
    """Return the locations of the files that do not exist or have another length, in order."""
    files = tuple(expected)
    folders: dict[str, list[str]] = {}
    for location, _ in files:
        folder, _, name = location.rpartition("/")
        folders.setdefault(folder, []).append(name)
    asked = [
        f"{folder}/{name}" for folder, names in folders.items() if len(names) <= FILES_ASKED for name in names
    ]
    lengths = catalog.files.lengths(asked, io)
    for folder, names in folders.items():
        if not {f"{folder}/{name}" for name in names} <= lengths.keys():
            lengths |= {f"{folder}/{name}": size for name, size in catalog.files.sizes_in(folder, io).items()}
    return tuple(location for location, length in files if lengths.get(location) != length)


def lost_data_files(catalog: IcebergCatalog, io: Any, files: Iterable[DataFile]) -> tuple[str, ...]:
    """Return the locations of those data files that do not exist or have another length."""
    with java_failures("look for the staged data files"):
        return lost_files(catalog, io, ((file.location, file.bytes) for file in files))


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
