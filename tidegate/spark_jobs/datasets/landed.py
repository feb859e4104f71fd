"""Reads datasets that were landed from outside: hive-style folders of Parquet files, as they are.

    <root>/day=2013-12-22/origin=EWR/anything.parquet

Nothing is written here. A file being landed has a name that begins with "." or "_"
until it is complete, so it is not read before. The partition columns are strings taken from the
folder names, even if the files have columns of the same name.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.partition_key import join_key, validate_key
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, folder_value
from tidegate.spark_jobs.datasets.file_reader import file_reader
from tidegate.spark_jobs.errors import SourceError
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
    spark: SparkSession,
    ref: DatasetRef,
    warehouse: Warehouse,
    selects: Callable[[str], bool],
    reported: Iterable[str] = (),
) -> DataFrame | None:
    """Return the rows of the selected partitions; no rows when none is, None when nothing was ever landed.

    Args:
        reported: the partitions that the run was launched for.

    Raises:
        SourceError: a reported partition has no files, or no file shows the columns of an empty result.
    """
    root = ref.root(warehouse)
    folders = landed_folders(warehouse.files, ref, root)
    refuse_missing(ref, root, folders, (key for key in reported if selects(key)))
    if not folders:
        return None
    taken = [folder for key, folder in folders.items() if selects(key)]
    if not taken:
        return spark.createDataFrame([], _with_dimensions(_columns(spark, ref, root, folders), ref).schema)
    return _with_dimensions(file_reader(spark).option("basePath", root).parquet(*taken), ref)


def refuse_missing(ref: DatasetRef, root: str, folders: Mapping[str, str], reported: Iterable[str]) -> None:
    """Raise SourceError for a reported partition without files, unless the dataset allows it."""
    missing = () if ref.allow_empty else sorted(key for key in set(reported) if key not in folders)
    if missing:
        rest = f", and {len(missing) - 1} more have none" if len(missing) > 1 else ""
        raise SourceError(
            f"{ref.id}: partition {missing[0]} was reported, but there are no files in "
            f"{root}/{ref.partition_folder(missing[0])}{rest}",
            "put the files there and run the job again, or write `allow_empty: true` for the dataset if a "
            "partition may be empty",
        )


def _columns(spark: SparkSession, ref: DatasetRef, root: str, folders: Mapping[str, str]) -> DataFrame:
    """Return the newest partition, whose columns an empty result has."""
    key, folder = list(folders.items())[-1]
    log.info("no partition that the run reads of %s has files; its columns are those of %s", ref.id, key)
    try:
        return file_reader(spark).option("basePath", root).parquet(folder)
    except (PySparkException, Py4JJavaError) as error:
        raise SourceError(
            f"{ref.id}: no partition that the run reads has files, so its columns are those of the newest "
            f"partition {key}, and {folder} cannot be read: {str(error).splitlines()[0]}",
            f"repair or remove the files of {key}, or land a partition that the run reads",
        ) from error


def _with_dimensions(frame: DataFrame, ref: DatasetRef) -> DataFrame:
    """Return the rows with the partition columns as strings."""
    for name in ref.dimensions():
        frame = frame.withColumn(name, frame[name].cast("string"))
    return frame


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
