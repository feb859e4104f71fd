"""New files of a dataset that is landed from outside; the parts are its partitions.

A file is known by name, size and time of modification: one that came late, with whatever
date, is new, and so is one that was landed anew. The position of a part is the list of its files that
have been read, so exactly the files that a position names are ever read for it. One that is
removed later is no error, and is remembered for a while in case it comes back.
"""

import re
from collections.abc import Mapping

import msgspec
from pyspark.sql import DataFrame, SparkSession

from tidegate.domain.value import Value
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.datasets.increment import Increment, IncrementalRead
from tidegate.spark_jobs.datasets.landed import landed_folders, read_landed
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.files.filesystem import FileSystem, is_data
from tidegate.spark_jobs.parquet.version_log import head

MAX_FILES = 50_000
"""Of one partition. Its position names them all, and each commit writes the position anew: some 3 MB."""
REMEMBERED_GONE = 1_000
"""So many removed files of a partition stay in its position; one that comes back later is new."""
SHOWN_FILES = 3

GLOB_CHARACTER = re.compile(r"([\\{}\[\]*?])")
"""What Spark takes for a pattern in a path."""

Stamp = tuple[int, int]
"""Size in bytes, and time of modification in milliseconds since 1970 UTC."""


class FilesPosition(Value, kw_only=True):
    """The files of a partition that have been read, by name."""

    files: dict[str, Stamp]


class NewFiles(Value, kw_only=True):
    """Files that are new, with absolute paths, and the positions of their partitions once they are read."""

    paths: dict[str, Stamp]
    positions: dict[str, str]


def read_new_files(spark: SparkSession, asked: IncrementalRead) -> Increment:
    """The rows of the files that are new in the partitions that are taken.

    Raises:
        SourceError: the dataset is not landed, a partition has too many files, or a watermark cannot be read.
    """
    new = new_files(asked)
    return Increment(
        frame=_rows(spark, asked, sorted(new.paths)),
        positions=new.positions,
        check=lambda: check_unchanged(asked, new),
    )


def new_files(asked: IncrementalRead) -> NewFiles:
    """The files that are new in the partitions that are taken; see `read_new_files` for what it raises."""
    ref, files = asked.ref, asked.warehouse.files
    root = ref.root(asked.warehouse)
    if ref.path is None or head(files, root).number:
        raise SourceError(
            f"{ref.id} is published by a program; only what is new in landed files can be told",
            "read all of it, or give `incremental` a source of your own",
        )
    positions: dict[str, str] = {}
    paths: dict[str, Stamp] = {}
    for key, folder in landed_folders(files, ref, root).items():
        if not asked.takes(key):
            continue
        read = _decode(asked, key)
        found = _stamps(files, folder)
        new = {name: stamp for name, stamp in found.items() if read.get(name) != stamp}
        if new:
            positions[key] = _encode(ref, key, found, read)
            paths |= {f"{folder}/{name}": stamp for name, stamp in new.items()}
    return NewFiles(paths=paths, positions=positions)


def check_unchanged(asked: IncrementalRead, new: NewFiles) -> None:
    """Raises SourceError when a file was written again while it was read: who knows which rows were read?"""
    files = asked.warehouse.files
    folders = {path.rpartition("/")[0] for path in new.paths}
    now = {f"{folder}/{name}": stamp for folder in folders for name, stamp in _stamps(files, folder).items()}
    changed = [path for path, stamp in sorted(new.paths.items()) if now.get(path, stamp) != stamp]
    if changed:
        raise SourceError(
            f"{asked.ref.id} was landed anew while it was read: {', '.join(changed[:SHOWN_FILES])}; "
            "nothing was published",
            "run it again; land a file under a name that begins with a dot, and rename it once it is whole",
        )


def _stamps(files: FileSystem, folder: str) -> dict[str, Stamp]:
    return {
        entry.name: (entry.size, entry.modified_ms)
        for entry in files.list(folder)
        if not entry.is_folder and is_data(entry.name)
    }


def _encode(ref: DatasetRef, key: str, found: Mapping[str, Stamp], read: Mapping[str, Stamp]) -> str:
    if len(found) > MAX_FILES:
        raise SourceError(
            f"{ref.id} has {len(found)} files in {f'its partition {key}' if key else 'one folder'}; what has "
            f"been read of more than {MAX_FILES} is not kept",
            "move files away once they have been read, or give the dataset smaller partitions",
        )
    gone = sorted((stamp[1], name) for name, stamp in read.items() if name not in found)
    kept = {name: read[name] for _, name in gone[-REMEMBERED_GONE:]}
    try:
        return msgspec.json.encode(FilesPosition(files={**kept, **found}), order="sorted").decode()
    except UnicodeEncodeError as error:
        raise SourceError(
            f"{ref.id} has a file whose name is no UTF-8, and cannot be remembered: {error.object!r}",
            "rename the file",
        ) from error


def _decode(asked: IncrementalRead, key: str) -> dict[str, Stamp]:
    position = asked.positions.get(key)
    if position is None:
        return {}
    try:
        return msgspec.json.decode(position, type=FilesPosition).files
    except msgspec.DecodeError as error:
        raise SourceError(
            f"{asked.watermark(key)} is no list of files: {error}",
            f"if all its files are to be read again: {asked.remedy(key, '')}",
        ) from error


def _rows(spark: SparkSession, asked: IncrementalRead, paths: list[str]) -> DataFrame | None:
    if not paths:
        return read_landed(spark, asked.ref, asked.warehouse, lambda _: False)
    root = asked.ref.root(asked.warehouse)
    frame = spark.read.option("basePath", root).parquet(
        *(GLOB_CHARACTER.sub(r"\\\1", path) for path in paths)
    )
    for name in asked.ref.dimensions():
        frame = frame.withColumn(name, frame[name].cast("string"))
    return frame
