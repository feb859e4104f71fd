"""The last guard of a removal: what the current metadata of a table reaches.

    metadata file and its log, manifest lists, manifests, data and delete files of all snapshots,
    statistics, version hint

It does not rely on the comparison that has called a file an orphan: a file stays if it has the *name* of one
that the metadata reaches, wherever that is, or, on the disks of this machine, is the same file. Names of
Iceberg are unique but for versions of the metadata, so a real orphan hardly ever stays.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from tidegate.spark_jobs.iceberg.catalog.java_texts import JavaTexts, each
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable
from tidegate.spark_jobs.maintenance.iceberg.orphans.real_places import path_on_disk

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
