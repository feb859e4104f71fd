"""Reads the new files of a dataset that is landed from outside; the parts are its partitions.

A file is identified by name, size and modification time: a late file, whatever its
date, is new, and so is a file that was landed again. The position of a part is the list of its files that
have been read, so exactly the files of a position are read for it. A file that is
removed later is not an error, and stays in the position for a while in case it comes back.
"""

from collections.abc import Mapping

import msgspec
from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.value import Value
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.datasets.increment import Increment, IncrementalRead
from tidegate.spark_jobs.datasets.landed import (
    files_below,
    landed_folders,
    read_landed,
    refuse_links_out,
    refuse_missing,
    rows_of_files,
)
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.parquet.version_log import head

MAX_FILES = 50_000
"""Per partition. Its position lists them all, and each commit writes the whole position: some 3 MB."""
REMEMBERED_GONE = 1_000
"""Removed files of a partition that stay in its position; an older one that comes back is new."""
SHOWN_FILES = 3

Stamp = tuple[int, int]
"""Size in bytes, and modification time in milliseconds since 1970 UTC."""


class FilesPosition(Value, kw_only=True):
    """The files of a partition that have been read, by name; `below/name` in a folder within it."""

    files: dict[str, Stamp]


class NewFiles(Value, kw_only=True):
    """New files by absolute path, their folders, and the positions of their partitions once they are read."""

    paths: dict[str, Stamp]
    folders: tuple[str, ...]
    positions: dict[str, str]


def read_new_files(spark: SparkSession, request: IncrementalRead) -> Increment:
    """Return the rows of the new files in the selected partitions.

    Raises:
        SourceError: the dataset is not landed, a reported partition has no files, a partition has too many
            files, a new one is a link that leads out, or a watermark cannot be read.
    """
    new = new_files(request)
    return Increment(
        frame=_rows(spark, request, sorted(new.paths)),
        positions=new.positions,
        check=lambda: check_unchanged(request, new),
    )


def new_files(request: IncrementalRead) -> NewFiles:
    """Return the new files in the selected partitions; for errors see `read_new_files`."""
    ref, files = request.ref, request.warehouse.files
    root = ref.root(request.warehouse)
    if ref.path is None or head(files, root).is_published:
        raise SourceError(
            f"{ref.id} is published by a program; in parquet, only landed files can be read incrementally",
            "read all of it, or write a source of your own under `incremental`",
        )
    positions: dict[str, str] = {}
    paths: dict[str, Stamp] = {}
    read_from: list[str] = []
    folders = landed_folders(files, ref, root, request.selects)
    # Files that have been read may be removed.
    unread = (key for key in request.reported if request.selects(key) and key not in request.positions)
    refuse_missing(ref, root, folders, unread)
    for key, folder in folders.items():
        if not request.selects(key):
            continue
        read = _decode(request, key)
        found = _stamps(files, root, folder)
        new = {name: stamp for name, stamp in found.items() if read.get(name) != stamp}
        if new:
            refuse_links_out(ref, root, (f"{folder}/{name}" for name in new))
            positions[key] = _encode(ref, key, found, read)
            paths |= {f"{folder}/{name}": stamp for name, stamp in new.items()}
            read_from.append(folder)
    return NewFiles(paths=paths, folders=tuple(read_from), positions=positions)


def check_unchanged(request: IncrementalRead, new: NewFiles) -> None:
    """Raise SourceError when a file changed or vanished during the read: its rows are unknown."""
    files, root = request.warehouse.files, request.ref.root(request.warehouse)
    now = {
        f"{folder}/{name}": stamp
        for folder in new.folders
        for name, stamp in _stamps(files, root, folder).items()
    }
    changed = [path for path, stamp in sorted(new.paths.items()) if now.get(path) != stamp]
    if changed:
        how = "was landed again" if any(path in now for path in changed) else "lost files"
        raise SourceError(
            f"{request.ref.id} {how} while it was read: {', '.join(changed[:SHOWN_FILES])}; "
            "nothing was published",
            "run it again; land files under a name that begins with a dot, rename them once complete, and "
            "remove a file only after the run that reads it",
        )


def _stamps(files: FileSystem, root: str, folder: str) -> dict[str, Stamp]:
    return {name: (entry.size, entry.modified_ms) for name, entry in files_below(files, root, folder)}


def _encode(ref: DatasetRef, key: str, found: Mapping[str, Stamp], read: Mapping[str, Stamp]) -> str:
    if len(found) > MAX_FILES:
        raise SourceError(
            f"{ref.id} has {len(found)} files in {f'its partition {key}' if key else 'one folder'}; an "
            f"incremental read allows at most {MAX_FILES}",
            "move files away once they have been read, or give the dataset smaller partitions",
        )
    gone = sorted((stamp[1], name) for name, stamp in read.items() if name not in found)
    kept = {name: read[name] for _, name in gone[-REMEMBERED_GONE:]}
    try:
        return msgspec.json.encode(FilesPosition(files={**kept, **found}), order="sorted").decode()
    except UnicodeEncodeError as error:
        raise SourceError(
            f"{ref.id} has a file whose name is not UTF-8: {error.object!r}",
            "rename the file",
        ) from error


def _decode(request: IncrementalRead, key: str) -> dict[str, Stamp]:
    position = request.positions.get(key)
    if position is None:
        return {}
    try:
        return msgspec.json.decode(position, type=FilesPosition).files
    except msgspec.DecodeError as error:
        raise SourceError(
            f"{request.watermark(key)} is not a list of files: {error}",
            f"to read all its files again: {request.remedy(key, '')}",
        ) from error


def _rows(spark: SparkSession, request: IncrementalRead, paths: list[str]) -> DataFrame | None:
    if not paths:
        return read_landed(spark, request.ref, request.warehouse, lambda _: False)
    return rows_of_files(spark, request.ref, request.ref.root(request.warehouse), paths)
