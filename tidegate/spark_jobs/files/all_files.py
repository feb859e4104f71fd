"""One file system for every place: local paths and file: URLs directly, all others through Hadoop.

The warehouse may be on a cluster and the project on this machine, and one sequence may touch
both. Local places do not need Spark: finishing a local publish starts no session.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.spark_jobs.errors import needs_spark
from tidegate.spark_jobs.files.filesystem import Entry, FileSystem, LocalFiles
from tidegate.spark_jobs.files.scheme import is_local, scheme_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class AllFiles:
    """The file systems of all addresses as one. A rename stays within one file system."""

    def __init__(self, spark: "Callable[[], SparkSession]") -> None:
        self._local = LocalFiles()
        self._spark = spark

    def list(self, folder: str) -> tuple[Entry, ...]:
        return self._of(folder).list(_path(folder))

    def exists(self, path: str) -> bool:
        return self._of(path).exists(_path(path))

    def read(self, file: str) -> bytes | None:
        return self._of(file).read(_path(file))

    def put_if_absent(self, file: str, content: bytes) -> bool:
        return self._of(file).put_if_absent(_path(file), content)

    def rename(self, moves: Mapping[str, str]) -> None:
        first = next(iter(moves))
        self._of(first).rename({_path(source): _path(target) for source, target in moves.items()})

    def delete(self, path: str) -> None:
        self._of(path).delete(_path(path))

    def sync(self, folder: str) -> None:
        self._of(folder).sync(_path(folder))

    def moves_folders_whole(self, folder: str) -> bool:
        return self._of(folder).moves_folders_whole(_path(folder))

    def copy(self, source: str, target: str) -> None:
        """The two may be on different file systems."""
        if is_local(source) and is_local(target):
            self._local.copy(_path(source), _path(target))
        else:
            self._hadoop.copy(_url(source), _url(target))

    def digest(self, file: str) -> str | None:
        return self._of(file).digest(_path(file))

    def local_path(self, place: str) -> Path | None:
        return self._of(place).local_path(_path(place))

    @cached_property
    def _hadoop(self) -> FileSystem:
        # It loads Spark, which a machine that only schedules may not have.
        with needs_spark():
            from tidegate.spark_jobs.files.hadoop_files import HadoopFiles
        return HadoopFiles(self._spark)

    def _of(self, place: str) -> FileSystem:
        return self._local if is_local(place) else self._hadoop


def _path(place: str) -> str:
    """Return a place as its file system expects it: a file: URL becomes a path."""
    if scheme_of(place) != "file":
        return place
    path = place[len("file:") :]
    return "/" + path.lstrip("/")


def _url(place: str) -> str:
    return place if scheme_of(place) else f"file://{place}"
