"""The files and folders of Iceberg tables: by Python, through Hadoop, or through the FileIO of a table.

A store that Hadoop may not support is asked through the FileIO, if that lists by prefixes. Files of this
machine are mostly looked at without the JVM: each question to it costs a small publish a hundredth of its
time, and Hadoop starts a `chmod` for each local file that it writes, and for its checksum.
"""

import os
import re
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeGuard

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tidegate.spark_jobs.files.filesystem import LocalFiles, make_folders
from tidegate.spark_jobs.files.scheme import scheme_of
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.java.elements import BETWEEN, Elements, Method, MethodOf
from tidegate.spark_jobs.java.jvm import java_classes
from tidegate.spark_jobs.java.permissions import permissions_by_java

HADOOP_IO = "org.apache.iceberg.hadoop.HadoopFileIO"
ALL_PERMISSIONS = 0o7777
IOS_KNOWN = 100
"""How many FileIOs are remembered; a publish has one or two."""
_CHECKSUM = re.compile(r"\..+\.crc")
"""The name of a file that Hadoop writes beside each local one, and does not list."""


class TableFiles:
    """Lists and removes the files of tables in the JVM of one session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._java: Any = java_classes(spark)
        self._here = LocalFiles()
        self._is_local: dict[str, bool] = {}
        self._are_hadoop: dict[str, bool] = {}

    def below(self, folder: str, io: Any | None = None) -> tuple[str, ...]:
        """Return all files below a folder; none for a folder that does not exist.

        Args:
            io: Iceberg's FileIO of the folder's table, for a store that Hadoop may not support.
        """
        with java_failures(f"list {folder}"):
            if self.has_prefixes(io):
                return tuple(one.location() for one in self._infos_by_prefix(folder, io))
            path, system = self.hadoop(folder)
            found, folders = [], [path] if system.exists(path) else []
            while folders:
                # Not `listFiles`: it reads the permissions of each file, with a process for each local one.
                listed = system.listStatus(folders.pop())
                for entry in (listed[number] for number in range(len(listed))):
                    if entry.isDirectory():
                        folders.append(entry.getPath())
                    else:
                        found.append(entry.getPath().toString())
            return tuple(found)

    def folders_in(self, folder: str) -> tuple[str, ...]:
        """Return the names of the folders in a folder, sorted; none for one that does not exist."""
        with java_failures(f"list {folder}"):
            path, system = self.hadoop(folder)
            listed = system.listStatus(path) if system.exists(path) else []
            entries = [listed[number] for number in range(len(listed))]
            return tuple(sorted(entry.getPath().getName() for entry in entries if entry.isDirectory()))

    def entries_in(self, folder: str, name: re.Pattern[str], io: Any | None = None) -> tuple[str, ...]:
        """Return the files and folders in a folder whose name matches; none for one that does not exist.

        Args:
            name: of names without commas.
            io: see `below`; it lists files only.
        """
        here = self._local(folder, io)
        if here is not None:
            return tuple(one.name for one in self._here.list(here) if name.fullmatch(one.name))
        if self.has_prefixes(io):
            return tuple(file for file in self.sizes_in(folder, io) if name.fullmatch(file))
        with java_failures(f"list {folder}"):
            path, system = self.hadoop(folder)
            if not system.exists(path):
                return ()
            paths = self._java.org.apache.hadoop.fs.FileUtil.stat2Paths(system.listStatus(path))
            # "{…/a,…/b}": one call for all. Py4J passes such an array only to a method that takes any object.
            listed = str(self._java.org.apache.commons.lang3.ArrayUtils.toString(paths))[1:-1].split(",")
            names = (path.rpartition("/")[2] for path in listed)
            return tuple(one for one in names if name.fullmatch(one))

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists, as Hadoop sees it."""
        here = self._local(path)
        if here is not None:
            return Path(here).exists()
        with java_failures(f"look for {path}"):
            where, system = self.hadoop(path)
            return bool(system.exists(where))

    def sizes_in(self, folder: str, io: Any | None = None) -> dict[str, int]:
        """Return the length in bytes of each file in a folder by name; none for a folder that does not exist.

        Args:
            io: see `below`.
        """
        here = self._local(folder, io)
        if here is not None:
            return {one.name: one.size for one in self._here.list(here) if not one.is_folder}
        with java_failures(f"list {folder}"):
            if self.has_prefixes(io):
                listed = self._infos_by_prefix(folder, io)
                return {str(one.location()).rpartition("/")[2]: int(one.size()) for one in listed}
            path, system = self.hadoop(folder)
            entries = system.listStatus(path) if system.exists(path) else []
            found = (entries[number] for number in range(len(entries)))
            return {str(one.getPath().getName()): int(one.getLen()) for one in found if one.isFile()}

    def count_below(self, folder: str, io: Any | None = None) -> int:
        """Return the number of files that `below` returns."""
        here = self._local(folder, io)
        if here is not None:
            walked = os.walk(here, followlinks=True)
            return sum(not _CHECKSUM.fullmatch(name) for _, _, names in walked for name in names)
        if self.has_prefixes(io):
            return len(self.below(folder, io))
        with java_failures(f"count {folder}"):
            path, system = self.hadoop(folder)
            return system.getContentSummary(path).getFileCount() if system.exists(path) else 0

    def lengths(self, locations: Sequence[str], io: Any) -> dict[str, int]:
        """Return the length of each file in bytes; perhaps none at all if that of one is unknown."""
        if not locations:
            return {}
        if self._local(locations[0], io) is not None:
            here = {one: path for one in locations if (path := self._local(one)) is not None}
            if here.keys() == set(locations):
                return {one: size for one, path in here.items() if (size := _size(path)) is not None}
        elements = Elements(self._spark)
        strings = self._java.org.apache.commons.lang3.StringUtils
        asked = elements.listed(strings.splitPreserveAllTokens(BETWEEN.join(locations), BETWEEN))
        opened = MethodOf(io, Method("org.apache.iceberg.io.FileIO", "newInputFile", ("java.lang.String",)))
        try:
            found = elements.texts(asked, opened, Method("org.apache.iceberg.io.InputFile", "getLength"))
        except Py4JJavaError:
            # Perhaps one of them does not exist.
            return {}
        return dict(zip(locations, map(int, found), strict=True))

    def delete(self, path: str, io: Any | None = None) -> None:
        """Remove a file, or a folder with its content; a path that does not exist is not an error.

        Args:
            io: see `below`.
        """
        here = self._local(path, io)
        if here is not None:
            self._here.delete(here)
            # Where Hadoop has written the file.
            folder, _, name = here.rpartition("/")
            self._here.delete(f"{folder}/.{name}.crc")
            return
        with java_failures(f"delete {path}"):
            if self.has_prefixes(io):
                # With the slash, because on an object store "_1" is also a prefix of "_10".
                io.deletePrefix(f"{path}/")
                io.deleteFile(path)
                return
            where, system = self.hadoop(path)
            system.delete(where, True)

    def write(self, path: str, text: str, io: Any) -> None:
        """Write a small file, replacing one that exists."""
        here = self._local(path, io)
        with java_failures(f"create {path}"):
            if here is not None:
                make_folders(Path(here).parent)
                Path(here).write_text(text, encoding="utf-8")
                return
            stream = io.newOutputFile(path).createOrOverwrite()
            stream.write(text.encode())
            stream.close()

    @contextmanager
    def with_folders(self, root: str, folders: Collection[Sequence[str]], io: Any) -> Iterator[None]:
        """Have folders of this machine while a block writes into them; remove those that it leaves empty.

        Iceberg makes a folder that it lacks, for which Hadoop starts a `chmod`.

        Args:
            root: a new folder, in one that exists and whose permissions they get.
            folders: the names of each below `root`, every one in that before it.
        """
        here, made = self._local(root, io), dict[Path, None]()
        if here is not None:
            # Perhaps only the executors may write there: then they make them.
            with suppress(OSError):
                mode = Path(here).parent.stat().st_mode & ALL_PERMISSIONS
                for names in folders:
                    for depth in range(len(names) + 1):
                        folder = Path(here, *names[:depth])
                        if folder not in made:
                            folder.mkdir()
                            made[folder] = None
                            folder.chmod(mode)
        try:
            with permissions_by_java(self._spark, 0 if here is None else len(folders)):
                yield
        finally:
            for folder in reversed(made):
                with suppress(OSError):
                    folder.rmdir()

    def output(self, path: str, io: Any) -> Any:
        """Return Iceberg's OutputFile of a new file, which can be read by `io`."""
        if scheme_of(path) == "" and self._local(path, io) is not None:
            # With a scheme, Iceberg would leave it out of the location that it says afterwards.
            make_folders(Path(path).parent)
            return self._java.org.apache.iceberg.Files.localOutput(path)
        return io.newOutputFile(path)

    def first_line(self, path: str) -> str | None:
        """Return the first line of a small file of Hadoop; None if it is missing, empty or damaged."""
        where, system = self.hadoop(path)
        java = self._java.java
        try:
            stream = system.open(where)
            try:
                return java.io.BufferedReader(
                    java.io.InputStreamReader(stream, java.nio.charset.StandardCharsets.UTF_8)
                ).readLine()
            finally:
                stream.close()
        except Py4JJavaError as error:
            if is_instance_of(self._gateway, error.java_exception, "java.io.IOException"):
                return None
            raise

    def replace(self, path: str, text: str) -> None:
        """Replace a small file of Hadoop. A reader sees the old text, for a moment no file, then the new."""
        with java_failures(f"write {path}"):
            where, system = self.hadoop(path)
            draft = self._path(f"{path}.{uuid.uuid4().hex}")
            stream = system.create(draft)
            stream.write(text.encode())
            stream.close()
            system.delete(where, False)
            if not system.rename(draft, where):
                # Another process was faster.
                system.delete(draft, False)

    def has_prefixes(self, io: Any | None) -> TypeGuard[Any]:
        """Return whether a store is listed by prefixes, through the FileIO of a table."""
        return not self._is_hadoop(io) and is_instance_of(
            self._gateway, io, "org.apache.iceberg.io.SupportsPrefixOperations"
        )

    def _infos_by_prefix(self, folder: str, io: Any) -> tuple[Any, ...]:
        try:
            found, iterator = [], io.listPrefix(f"{folder}/").iterator()
            while iterator.hasNext():
                found.append(iterator.next())
        except Py4JJavaError as error:
            cause = error.java_exception.getCause()
            if cause is not None and cause.getClass().getName() == "java.io.FileNotFoundException":
                return ()
            raise
        return tuple(found)

    def _local(self, path: str, io: Any | None = None) -> str | None:
        """Return the path of a file or folder on this machine; None if only the JVM reaches it.

        Args:
            io: see `below`.
        """
        scheme = scheme_of(path)
        if scheme not in ("", "file") or not self._is_hadoop(io):
            return None
        if scheme not in self._is_local:
            with java_failures(f"look for {path}"):
                _, system = self.hadoop(path)
                self._is_local[scheme] = system.getScheme() == "file"
        return _path_here(path) if self._is_local[scheme] else None

    def _is_hadoop(self, io: Any | None) -> bool:
        """Return whether a FileIO, or none, does the same as this module; its own is slower."""
        if io is None:
            return True
        # Python's name of the object in the JVM, which no other object gets. A publish asks a dozen times.
        known, name = self._are_hadoop, io._target_id
        if name not in known:
            if len(known) >= IOS_KNOWN:
                known.clear()
            known[name] = io.getClass().getName() == HADOOP_IO
        return known[name]

    def hadoop(self, path: str) -> tuple[Any, Any]:
        """Return Hadoop's path and file system of a path."""
        where = self._path(path)
        return where, where.getFileSystem(self._hadoop_conf)

    @property
    def _gateway(self) -> Any:
        return self._spark.sparkContext._gateway

    @cached_property
    def _hadoop_conf(self) -> Any:
        context: Any = self._spark.sparkContext
        return context._jsc.hadoopConfiguration()

    @cached_property
    def _path(self) -> Any:
        return self._java.org.apache.hadoop.fs.Path


def _path_here(place: str) -> str | None:
    """Return the path of a place without a scheme or of a file: URL, as Hadoop understands it."""
    path = place.partition(":")[2] if scheme_of(place) else place
    if not path.startswith("/") or (path.startswith("//") and not path.startswith("///")):
        # Relative, or with the name of a host.
        return None
    # Hadoop takes the rest as it is: "%20" is a part of a name.
    return f"/{path.lstrip('/')}"


def _size(file: str) -> int | None:
    try:
        return Path(file).stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return None
