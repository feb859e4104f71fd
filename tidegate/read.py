"""Read a Parquet dataset of Tidegate from any program: with Spark, with pyarrow, or as a list of files.

    import tidegate.read

    tidegate.read.spark(session, "warehouse/flights/delays")
    tidegate.read.pyarrow("warehouse/flights/delays", keys=["2013-12-22|JFK"])
    tidegate.read.files("warehouse/flights/delays")

Each call sees exactly one version, the newest, on every file system, because it reads the version log. Its
files stay for the next 50 publishes. Neither settings nor a schedule store are needed. The partition columns
are strings, as in programs. An Iceberg table is read through its catalog instead.
"""

import json
from collections.abc import Iterable, Iterator
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.spark_jobs.files.filesystem import Entry, LocalFiles, is_data
from tidegate.spark_jobs.files.scheme import is_local, scheme_of
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry
from tidegate.spark_jobs.parquet.version_log import TableVersion, head

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset
    from pyarrow.fs import FileSystem
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["files", "pyarrow", "spark"]


def files(
    path: str, keys: Iterable[str] | None = None, *, filesystem: "FileSystem | None" = None
) -> list[str]:
    """Return the data files of the newest version.

    Args:
        path: folder of the dataset, a path or a URL.
        keys: partition keys, such as "2013-12-22|JFK"; None for all. One that does not exist has no files.
        filesystem: the file system of pyarrow that a URL is on; None to derive it from the URL.

    Returns:
        Absolute paths for a path of this machine; else paths on `filesystem`.

    Raises:
        FileNotFoundError: nothing was published into this folder.
    """
    log, root = _opened(path, filesystem)
    return _files(log, root, _newest(log, root, path), keys)


def spark(session: "SparkSession", path: str, keys: Iterable[str] | None = None) -> "DataFrame":
    """Return the rows of the newest version, with the columns of the table.

    Args:
        path: folder of the dataset, a path or any URL that the session reaches.
        keys: see `files`.

    Raises:
        FileNotFoundError: nothing was published into this folder.
    """
    from tidegate.spark_jobs.files.all_files import AllFiles
    from tidegate.spark_jobs.parquet.folders.read_folders import read_folders

    log, root = AllFiles(lambda: session), _root(path)
    version = _newest(log, root, path)
    folders = [f"{root}/{folder}" for entry in _entries(version, keys) for folder in entry.folders]
    return read_folders(session, version.schema, folders, version.narrower(root))


def pyarrow(
    path: str, keys: Iterable[str] | None = None, *, filesystem: "FileSystem | None" = None
) -> "Dataset":
    """Return the newest version as a dataset of pyarrow, with the columns of all its files.

    Args:
        path: folder of the dataset, a path or a URL.
        keys: see `files`.
        filesystem: see `files`.

    Raises:
        FileNotFoundError: nothing was published into this folder.
    """
    from pyarrow import dataset
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    log, root = _opened(path, filesystem)
    version = _newest(log, root, path)
    # Newer versions of PySpark have no zone of their own for timestamps.
    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    columns = to_arrow_schema(StructType.fromJson(json.loads(version.schema)), **zone)
    found = _files(log, root, version, keys)
    where = log.filesystem if isinstance(log, _ArrowFiles) else None
    if not found:
        return dataset.dataset(columns.empty_table())
    return dataset.dataset(found, schema=columns, format="parquet", filesystem=where)


class _ArrowFiles:
    """The part of a file system that reads a version log, on a file system of pyarrow."""

    def __init__(self, filesystem: "FileSystem") -> None:
        self.filesystem = filesystem

    def list(self, folder: str) -> tuple[Entry, ...]:
        from pyarrow import fs

        found = self.filesystem.get_file_info(fs.FileSelector(folder, allow_not_found=True))
        entries = [
            Entry(name=one.base_name, size=one.size or 0, modified_ms=0, is_folder=one.size is None)
            for one in found
        ]
        return tuple(sorted(entries, key=lambda entry: entry.name))

    def read(self, file: str) -> bytes | None:
        try:
            with self.filesystem.open_input_stream(file) as stream:
                return stream.read()
        except FileNotFoundError:
            return None


def _opened(path: str, filesystem: "FileSystem | None") -> tuple[Any, str]:
    """Return what reads the log, and the folder as it names it."""
    if filesystem is None and is_local(path):
        return LocalFiles(), _root(path)
    from pyarrow import fs

    if filesystem is None:
        filesystem, path = fs.FileSystem.from_uri(path)
    return _ArrowFiles(filesystem), path.rstrip("/")


def _root(path: str) -> str:
    """Return a folder without the slash at its end; a path becomes absolute, a `file:` URL a path."""
    if scheme_of(path) == "file":
        path = "/" + path[len("file:") :].lstrip("/")
    return path.rstrip("/") if scheme_of(path) else str(Path(path).expanduser().absolute())


def _newest(log: Any, root: str, path: str) -> TableVersion:
    version = head(log, root)
    if not version.number:
        raise FileNotFoundError(
            f"{path}: Tidegate has not published into this folder; landed files are read as they are, "
            "and an Iceberg table through its catalog"
        )
    return version


def _entries(version: TableVersion, keys: Iterable[str] | None) -> Iterator[PartitionEntry]:
    wanted = None if keys is None else frozenset(keys)
    for key, entry in sorted(version.partitions.items()):
        if wanted is None or key in wanted:
            yield entry


def _files(log: Any, root: str, version: TableVersion, keys: Iterable[str] | None) -> list[str]:
    return [
        f"{root}/{folder}/{one.name}"
        for entry in _entries(version, keys)
        for folder in entry.folders
        for one in log.list(f"{root}/{folder}")
        if is_data(one.name) and not one.is_folder
    ]
