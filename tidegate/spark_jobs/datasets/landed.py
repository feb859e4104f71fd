"""Reads datasets that were landed from outside: hive-style folders of Parquet files, as they are.

    <root>/day=2013-12-22/origin=EWR/anything.parquet

Nothing is written here. Files in folders below that of a partition belong to it. A file being landed has a
name that begins with "." or "_" until it is complete, so it is not read before. A link that leads out of
the dataset's folder is refused. The partition columns are
strings taken from the folder names, even if the files have columns of the same name.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.nearest_key import read_key
from tidegate.spark_jobs.datasets.column_names import spelling
from tidegate.spark_jobs.datasets.dataset_ref import (
    DatasetRef,
    Warehouse,
    bare_folder,
    bare_key,
    folder_value,
)
from tidegate.spark_jobs.datasets.landed_files import read_files
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.files.filesystem import Entry, FileSystem, is_data
from tidegate.spark_jobs.files.links import is_link, link_out

log = logging.getLogger(__name__)

DEEPEST = 16
"""How many folders below that of a partition are searched: links may lead in a circle."""


def landed_folders(
    files: FileSystem, ref: DatasetRef, root: str, selects: Callable[[str], bool] = lambda _: True
) -> dict[str, str]:
    """Return the folder of each partition that has data, by key, in the order of the keys.

    Args:
        selects: the partitions that are to be read, of which a wrong folder is refused.

    Raises:
        SourceError: a partition that `selects` accepts has two folders, or its only one is named by the key
            alone.
    """
    found: dict[str, str] = {}
    misnamed: dict[str, str] = {}
    for parts, bare, folder in _walk(files, root, root, ref.dimensions(), {}):
        if bare:
            alone = None if ref.scheme is None else bare_key(ref.scheme, parts, bare)
            if alone is not None:
                misnamed[alone] = folder
            continue
        key = read_key(ref.scheme, parts) if ref.scheme is not None else ""
        if not isinstance(key, str):
            fault = f"{key.summary}; {key.hint}"
            log.warning("%s is not a partition of %s; skipping it: %s", folder, ref.name, fault)
        elif key in found and selects(key):
            raise SourceError(
                f"{ref.id}: partition {key} has two folders, {found[key]} and {folder}",
                "move the files of one into the other",
            )
        else:
            found[key] = folder
    for key, folder in sorted(misnamed.items()):
        if ref.scheme is not None and key not in found and selects(key) and _has_files(files, root, folder):
            raise SourceError(
                f"{ref.id}: {bare_folder(ref.scheme, folder, key)}",
                "rename it and run the job again, or move it away if it is not data",
            )
    return dict(sorted(found.items()))


def files_below(files: FileSystem, root: str, folder: str, inside: str = "") -> Iterator[tuple[str, Entry]]:
    """Yield the data files in a partition's folder and in those below it, by the names that lead there.

    A folder outside of the dataset's, to which a link leads, is yielded itself: `refuse_links_out` names it.
    """
    for entry in files.list(f"{folder}/{inside}" if inside else folder):
        name = f"{inside}/{entry.name}" if inside else entry.name
        if not is_data(entry.name):
            continue
        if not entry.is_folder or link_out(root, f"{folder}/{name}"):
            yield name, entry
        elif name.count("/") < DEEPEST:
            yield from files_below(files, root, folder, name)


def refuse_links_out(ref: DatasetRef, root: str, paths: Iterable[str]) -> None:
    """Raise SourceError if a link leads from a landed file to a place outside of the dataset's folder.

    Who can write into the folder could otherwise have a run read whatever its process may read. The folder
    itself may be a link: the project names it.
    """
    checked: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        found = None if folder in checked else link_out(root, folder)
        checked.add(folder)
        if found is None and is_link(path):
            found = link_out(root, path)
        if found is not None:
            raise SourceError(
                f"{ref.id}: {found} is a link that leads out of the dataset's folder {root}",
                "replace it by the files themselves (`cp -Lp` keeps their times), or mount them there",
            )


def rows_of_files(spark: SparkSession, ref: DatasetRef, root: str, files: Sequence[str]) -> DataFrame:
    """Return the rows of landed files, given by absolute paths, with the partition columns as strings."""
    frame = read_files(spark, ref, root, files)
    for name in ref.dimensions():
        frame = frame.withColumn(name, frame[name].cast("string"))
    return frame


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
    folders = landed_folders(warehouse.files, ref, root, selects)
    refuse_missing(ref, root, folders, (key for key in reported if selects(key)))
    if not folders:
        return None
    taken = [folder for key, folder in folders.items() if selects(key)]
    if not taken:
        return spark.createDataFrame([], _columns(spark, ref, root, folders, warehouse.files).schema)
    return rows_of_files(spark, ref, root, _files(warehouse.files, ref, root, taken))


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


def _columns(
    spark: SparkSession, ref: DatasetRef, root: str, folders: Mapping[str, str], files: FileSystem
) -> DataFrame:
    """Return the newest partition, whose columns an empty result has."""
    key, folder = list(folders.items())[-1]
    log.info("no partition that the run reads of %s has files; its columns are those of %s", ref.id, key)
    try:
        return rows_of_files(spark, ref, root, _files(files, ref, root, [folder]))
    except (PySparkException, Py4JJavaError, SourceError) as error:
        raise SourceError(
            f"{ref.id}: no partition that the run reads has files, so its columns are those of the newest "
            f"partition {key}, and {folder} cannot be read: {str(error).splitlines()[0]}",
            f"repair or remove the files of {key}, or land a partition that the run reads",
        ) from error


def _files(files: FileSystem, ref: DatasetRef, root: str, folders: Iterable[str]) -> list[str]:
    found = [f"{folder}/{name}" for folder in folders for name, _ in files_below(files, root, folder)]
    refuse_links_out(ref, root, found)
    return found


def _has_files(files: FileSystem, root: str, folder: str) -> bool:
    return any(True for _ in files_below(files, root, folder))


def _walk(
    files: FileSystem,
    root: str,
    folder: str,
    names: Sequence[str],
    parts: dict[str, str],
    bare: tuple[str, ...] = (),
) -> Iterator[tuple[dict[str, str], tuple[str, ...], str]]:
    """Yield each folder with data in it that has a value for every name, in any case and order.

    With folders that have no dimension in their name, `bare`, also one without data is yielded.
    """
    if len(names) == len(bare):
        if bare or _has_files(files, root, folder):
            yield parts, bare, folder
        return
    for entry in files.list(folder):
        value = folder_value(entry.name) if entry.is_folder else None
        name = None if value is None else spelling(value[0], names)
        if value is not None and name is not None:
            rest = [one for one in names if one != name]
            yield from _walk(files, root, f"{folder}/{entry.name}", rest, {**parts, name: value[1]}, bare)
        elif entry.is_folder and "=" not in entry.name and is_data(entry.name):
            yield from _walk(files, root, f"{folder}/{entry.name}", names, parts, (*bare, entry.name))
