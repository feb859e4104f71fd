"""Reads datasets that were landed from outside: hive-style folders of Parquet files, as they are.

    <root>/day=2013-12-22/origin=EWR/anything.parquet

Nothing is written here. A file being landed has a name that begins with "." or "_"
until it is complete, so it is not read before. The partition columns are strings taken from the
folder names, even if the files have columns of the same name.
"""

import logging
from collections.abc import Callable, Iterator

from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.partition_key import join_key, validate_key
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, folder_value
from tidegate.spark_jobs.files.filesystem import FileSystem, is_data

log = logging.getLogger(__name__)


def landed_folders(files: FileSystem, ref: DatasetRef, root: str) -> dict[str, str]:
    """Return the folder of each partition that has data, by key, in the order of the keys."""
    found: dict[str, str] = {}
    for parts, folder in _walk(files, root, frozenset(ref.dimensions()), {}):
        key = join_key(ref.scheme, parts) if ref.scheme is not None else ""
        fault = validate_key(ref.scheme, key) if ref.scheme is not None else None
        if fault is None:
            found[key] = folder
        else:
            log.warning("%s is not a partition of %s; skipping it: %s", folder, ref.name, fault)
    return dict(sorted(found.items()))


def read_landed(
    spark: SparkSession, ref: DatasetRef, warehouse: Warehouse, selects: Callable[[str], bool]
) -> DataFrame | None:
    """Return the rows of the selected partitions; no rows when none is, None when nothing was ever landed."""
    root = ref.root(warehouse)
    folders = landed_folders(warehouse.files, ref, root)
    if not folders:
        return None
    taken = [folder for key, folder in folders.items() if selects(key)]
    # When no partition is selected, the newest one provides the columns.
    frame = spark.read.option("basePath", root).parquet(*(taken or [list(folders.values())[-1]]))
    for name in ref.dimensions():
        frame = frame.withColumn(name, frame[name].cast("string"))
    return frame if taken else spark.createDataFrame([], frame.schema)


def _walk(
    files: FileSystem, folder: str, names: frozenset[str], parts: dict[str, str]
) -> Iterator[tuple[dict[str, str], str]]:
    entries = files.list(folder)
    if not names:
        if any(not entry.is_folder and is_data(entry.name) for entry in entries):
            yield parts, folder
        return
    for entry in entries:
        value = folder_value(entry.name) if entry.is_folder else None
        if value is not None and value[0] in names:
            inner = {**parts, value[0]: value[1]}
            yield from _walk(files, f"{folder}/{entry.name}", names - {value[0]}, inner)
