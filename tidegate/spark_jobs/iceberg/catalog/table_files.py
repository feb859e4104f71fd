"""The files and folders of Iceberg tables: through Hadoop, or through the FileIO of a table.

A store that Hadoop may not support is asked through the FileIO, if that lists by prefixes.
"""

import re
import uuid
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeGuard

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.java.elements import BETWEEN, Elements, Method, MethodOf
from tidegate.spark_jobs.java.jvm import java_classes

HADOOP_IO = "org.apache.iceberg.hadoop.HadoopFileIO"


class TableFiles:
    """Lists and removes the files of tables in the JVM of one session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._java: Any = java_classes(spark)

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
        with java_failures(f"look for {path}"):
            where, system = self.hadoop(path)
            return bool(system.exists(where))

    def sizes_in(self, folder: str, io: Any | None = None) -> dict[str, int]:
        """Return the length in bytes of each file in a folder by name; none for a folder that does not exist.

        Args:
            io: see `below`.
        """
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
        if self.has_prefixes(io):
            return len(self.below(folder, io))
        with java_failures(f"count {folder}"):
            path, system = self.hadoop(folder)
            return system.getContentSummary(path).getFileCount() if system.exists(path) else 0

    def lengths(self, locations: Sequence[str], io: Any) -> dict[str, int]:
        """Return the length of each file in bytes; none at all if that of one is unknown."""
        elements = Elements(self._spark)
        if not locations:
            return {}
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
        with java_failures(f"delete {path}"):
            if self.has_prefixes(io):
                # With the slash, because on an object store "_1" is also a prefix of "_10".
                io.deletePrefix(f"{path}/")
                io.deleteFile(path)
                return
            where, system = self.hadoop(path)
            system.delete(where, True)

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
        if io is None or io.getClass().getName() == HADOOP_IO:
            # HadoopFileIO does the same as this module, but slower.
            return False
        return is_instance_of(self._gateway, io, "org.apache.iceberg.io.SupportsPrefixOperations")

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
