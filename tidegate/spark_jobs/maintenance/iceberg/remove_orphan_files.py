"""The operation remove_orphan_files: deletes files below a table that no snapshot of it has.

    what runs have staged ─► the table ─► files below it ─► those of no snapshot, old enough
                                                                      │
              delete a lot ◄─ stop? yield? ◄─ last guard ◄─ without those of other tables

Published files of a dataset are in folders that Iceberg passes over; `staged_folders` lists these. What is
staged is read first, then the table, then its files: what is staged at first is left out, whether it is
published meanwhile or not; what was published before is in the table that is read; what is staged later is
too young. Iceberg finds the orphans and deletes nothing; the files are deleted here, in lots.

Iceberg compares names of files, and one folder can have several names. So the place of the table must be
the one that its metadata names, and what the newest metadata reaches is never deleted (`orphans.reached`),
nor what may belong to another table (`orphans.other_tables`).

The folders of published data files in a dataset's table, which Iceberg never sweeps. A run stages its files
in a folder whose name begins with an underscore, and publishes them where they are. So Iceberg's own search
for orphans passes all of them over. Here these folders are searched too, except those of names under which
something is staged: it may still be published.

The last guard of a removal: what the current metadata of a table reaches.

    metadata file and its log, manifest lists, manifests, data and delete files of all snapshots,
    statistics, version hint

It does not rely on the comparison that has called a file an orphan: a file stays if it has the *name* of one
that the metadata reaches, wherever that is, or, on the disks of this machine, is the same file. Names of
Iceberg are unique but for versions of the metadata, so a real orphan hardly ever stays.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

from py4j.java_gateway import is_instance_of
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidegate.domain.model.operation import LEAST_ORPHAN_AGE
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.iceberg.catalog.catalog import catalog_of
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.catalog.half_done import STAGING_TABLE
from tidegate.spark_jobs.iceberg.catalog.java_texts import JavaTexts, each
from tidegate.spark_jobs.iceberg.catalog.table_files import HADOOP_IO, TableFiles
from tidegate.spark_jobs.iceberg.orphans import staged_items
from tidegate.spark_jobs.iceberg.staging.names import data_root
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable
from tidegate.spark_jobs.maintenance.iceberg.expire_snapshots import GARBAGE_COLLECTION, collects_garbage
from tidegate.spark_jobs.maintenance.iceberg.orphans.other_tables import OtherTables, other_places
from tidegate.spark_jobs.maintenance.iceberg.orphans.real_places import RealPlaces, path_on_disk
from tidegate.spark_jobs.maintenance.progress import MaintenanceRefused, Progress
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest

HINT = "version-hint.text"
METADATA_TABLES = (("all_files", "file_path"), ("all_manifests", "path"))
"""The files that are too many for the driver alone, and the column with their locations."""


def reached_among(table: CatalogTable, java: Any, locations: Collection[str]) -> frozenset[str]:
    """Return those of some files that the current metadata of a table reaches.

    Args:
        java: the table as its newest metadata describes it.
    """
    by_name: dict[str, list[str]] = {}
    for location in locations:
        by_name.setdefault(name_of(location), []).append(location)
    numbers = {number: location for location in locations if (number := _number(location)) is not None}
    names = by_name.keys() & {HINT, *map(name_of, _of_metadata(java))}
    found = {location for name in names for location in by_name[name]}
    found |= {numbers[number] for one in _of_metadata(java) if (number := _number(one)) in numbers}
    listed = _listed(table)
    if numbers:
        # The disks of this machine can tell files apart, so a linked file is found under any name.
        rows = [str(row[0]) for row in listed.collect()]
        found |= {numbers[number] for one in rows if (number := _number(one)) in numbers}
        same = by_name.keys() & set(map(name_of, rows))
    else:
        same = _same_names(table, listed, by_name)
    return frozenset(found | {location for name in same for location in by_name[name]})


def name_of(location: str) -> str:
    """Return the last part of a location."""
    return location.rpartition("/")[2]


def _of_metadata(java: Any) -> Iterator[str]:
    """Yield the files of the metadata that the driver knows."""
    now = java.operations().current()
    yield str(now.metadataFileLocation())
    yield from (str(one.file()) for one in each(now.previousFiles()))
    for snapshot in each(java.snapshots()):
        if snapshot.manifestListLocation() is not None:
            yield str(snapshot.manifestListLocation())
    for statistics in (java.statisticsFiles(), java.partitionStatisticsFiles()):
        yield from (str(one.path()) for one in each(statistics))


def _listed(table: CatalogTable) -> DataFrame:
    """Return the locations of all other files of the table, whose table must not be newer than `java`."""
    frames = [
        table.spark.read.format("iceberg")
        .load(f"{table.sql}.{name}")
        .select(sf.col(column).alias("location"))
        for name, column in METADATA_TABLES
    ]
    return reduce(DataFrame.union, frames).distinct()


def _same_names(table: CatalogTable, listed: DataFrame, names: Collection[str]) -> frozenset[str]:
    texts = JavaTexts(table.java).java_list(names)
    session: Any = table.spark._jsparkSession
    asked = DataFrame(
        session.createDataset(texts, table.java.org.apache.spark.sql.Encoders.STRING()).toDF(), table.spark
    )
    last = sf.element_at(sf.split("location", "/"), -1)
    same = asked.join(listed.select(last.alias("value")), "value", "left_semi")
    return frozenset(str(row[0]) for row in same.collect())


def _number(location: str) -> tuple[int, int] | None:
    """Return what the file system of this machine calls a file; None for one that is elsewhere."""
    path = path_on_disk(location)
    if path is not None:
        with suppress(OSError):
            found = Path(path).stat()
            return found.st_dev, found.st_ino
    return None


_FOLDER = re.compile(rf"_{STAGING_TABLE.pattern}")


def unpublished(table: CatalogTable, ref: DatasetRef) -> frozenset[str]:
    """Return the names of the staging folders of a dataset that some run may still publish."""
    orphans = staged_items([ref], catalog_of(table.spark))
    return frozenset(f"_{one.table}" for one in orphans)


def published_files(table: CatalogTable, java: Any, waiting: Collection[str]) -> DataFrame | None:
    """Return the files in the staging folders of a table, with their times, as Iceberg wants a list of files.

    Args:
        waiting: folders to leave out, from `unpublished`, which must be read first.

    Returns:
        None where there are none, or where the store of the table can only be listed by Iceberg.
    """
    root = data_root(java)
    if java.io().getClass().getName() != HADOOP_IO:
        return None
    names = catalog_of(table.spark).files.folders_in(root)
    folders = [f"{root}/{name}" for name in names if _FOLDER.fullmatch(name) and name not in waiting]
    if not folders:
        return None
    listed = table.spark.read.format("binaryFile").option("recursiveFileLookup", True).load(folders)
    return listed.select(sf.col("path").alias("file_path"), sf.col("modificationTime").alias("last_modified"))


LOT_FILES = 1_000
SHOWN_FILES = 20
"""Removed files that the results name."""
METADATA_PATH = "write.metadata.path"
REACHED = "the table has a file of this name"


def remove_orphan_files(
    table: CatalogTable, request: OperationRequest, context: MaintenanceContext, progress: Progress
) -> None:
    """Delete the orphans of a table.

    Raises:
        MaintenanceRefused: `older_than` is less than a day: files of running writers would be taken; or the
            table is not where its metadata says, or shares its place.
        TimedOut, Yielded: between two lots.
    """
    older_than = float(request.options["older_than"])
    if older_than < LEAST_ORPHAN_AGE.total_seconds():
        raise MaintenanceRefused(
            f"older_than is {older_than:g} s, and files of running writers are younger than a day",
            "write at least 1d",
        )
    progress.add(orphan_files_removed=0)
    progress.pause()
    # In this order, see above.
    waiting = frozenset[str]() if request.table.ref is None else unpublished(table, request.table.ref)
    java = table.load()
    if not collects_garbage(java):
        progress.not_applicable(f"{GARBAGE_COLLECTION} of the table is false")
        return
    places = RealPlaces(TableFiles(table.spark), java.io())
    _refuse_other_place(table, java, places)
    before_ms = int((context.clock.now().timestamp() - older_than) * 1000)
    found = list(_orphans(table, java, before_ms))
    if request.table.ref is not None:
        found += _orphans_in_folders(table, java, waiting, before_ms)
    orphans = _without_live_files(table, java, list(dict.fromkeys(found)), places, context, progress)
    progress.results["removed"] = orphans[:SHOWN_FILES]
    for start in range(0, len(orphans), LOT_FILES):
        progress.pause()
        _delete(table, java, orphans[start : start + LOT_FILES], progress)


def _refuse_other_place(table: CatalogTable, java: Any, places: RealPlaces) -> None:
    """Refuse a table that is not where its metadata says: a folder that was copied, or moved, or mounted.

    Its files would be looked for in a place that may belong to another table, or have another name.
    """
    file = str(java.operations().current().metadataFileLocation())
    expected = str(java.properties().get(METADATA_PATH) or f"{str(java.location()).rstrip('/')}/metadata")
    found = file.rpartition("/")[0]
    if places.identity(found) != places.identity(expected):
        raise MaintenanceRefused(
            f"the metadata of {table.name} is in {found}, and names {expected} as its place",
            "let both names lead to one folder, or move the table by Iceberg's procedure rewrite_table_path",
        )


def _without_live_files(
    table: CatalogTable,
    java: Any,
    found: Sequence[str],
    places: RealPlaces,
    context: MaintenanceContext,
    progress: Progress,
) -> list[str]:
    """Return what may be deleted, and record what is left."""
    if not found:
        return []
    others = OtherTables(table, java, places, other_places(table, java, places, context.places, progress))
    left: dict[str, str] = {}
    for location in found:
        why = others.why_left(location)
        if why:
            left[location] = why
    orphans = [one for one in found if one not in left]
    # Last, and by the newest metadata.
    live = reached_among(table, table.load(), orphans) if orphans else frozenset[str]()
    left |= dict.fromkeys((one for one in orphans if one in live), REACHED)
    if left:
        progress.results["left"] = [*left][:SHOWN_FILES]
        progress.results["left_because"] = dict(Counter(left.values()).most_common(SHOWN_FILES))
    return [one for one in orphans if one not in live]


def _orphans(table: CatalogTable, java: Any, before_ms: int) -> Iterator[str]:
    action = _searching(table, java, before_ms)
    if java.io().getClass().getName() != HADOOP_IO:
        # Hadoop may not know the store.
        action.usePrefixListing(True)
    yield from _found(action)


def _orphans_in_folders(
    table: CatalogTable, java: Any, waiting: Collection[str], before_ms: int
) -> Iterator[str]:
    files = published_files(table, java, waiting)
    if files is not None:
        action = _searching(table, java, before_ms).compareToFileList(files._jdf)
        # They are all below the table. Hadoop's paths have a scheme, and the location may have none.
        yield from _found(action.location(None))


def _searching(table: CatalogTable, java: Any, before_ms: int) -> Any:
    """Return Iceberg's action that looks for orphans and deletes none."""
    action = table.actions().deleteOrphanFiles(java).olderThan(before_ms)
    # One path in two stores is taken for one file.
    action.prefixMismatchMode(table.api.actions.DeleteOrphanFiles.PrefixMismatchMode.IGNORE)
    # A consumer of file names, which only collects them.
    return action.deleteWith(table.java.java.util.stream.Stream.builder())


def _found(action: Any) -> Iterator[str]:
    for location in each(action.execute().orphanFileLocations()):
        yield str(location)


def _delete(table: CatalogTable, java: Any, locations: Sequence[str], progress: Progress) -> None:
    io, lot = java.io(), table.java.java.util.ArrayList()
    for location in locations:
        lot.add(location)
    gateway: Any = table.spark.sparkContext._gateway
    # Some are deleted even if it fails.
    progress.changed = True
    with java_failures(f"delete orphan files of {table.name}"):
        if is_instance_of(gateway, io, "org.apache.iceberg.io.SupportsBulkOperations"):
            io.deleteFiles(lot)
        else:
            for location in locations:
                io.deleteFile(location)
    progress.add(orphan_files_removed=len(locations))
