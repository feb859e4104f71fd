"""Iceberg's catalog and tables through its Java API.

SQL cannot put a commit id and a property into the same commit as the rows, so tables are
used as Java objects in the session's JVM. There is one catalog, which
`spark_jobs.iceberg.runtime` configures; other modules decide what is published. Java failures
become `StaleTable`, or an `OSError` after which the caller must verify whether the effect happened.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeGuard
from urllib.parse import quote

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.iceberg.catalog_options import opening_fault
from tidegate.spark_jobs.iceberg.runtime import CATALOG
from tidegate.spark_jobs.java_classes import java_classes

STAGING_NAMESPACE = "_tidegate_staging"
"""No app has this name: names of apps begin with a letter."""
LOCK_FOLDER = "_tidegate_locks"
STALE = (
    "org.apache.iceberg.exceptions.AlreadyExistsException",
    "org.apache.iceberg.exceptions.CommitFailedException",
)
"""The Java errors of a commit on a table that has changed since: the commit certainly did not happen."""

TableName = tuple[str, str]
"""Namespace and name of a table."""

HADOOP_IO = "org.apache.iceberg.hadoop.HadoopFileIO"
NO_TABLE = (
    "org.apache.iceberg.exceptions.NoSuchTableException",
    "org.apache.iceberg.exceptions.NoSuchNamespaceException",
)

_commit_lock = threading.Lock()


class StaleTable(Exception):
    """The table has changed since it was read; nothing was committed."""


class IcebergFailure(OSError):
    """Java failed. The caller must verify whether a commit happened."""


@contextmanager
def java_failures(doing: str) -> Iterator[None]:
    """Convert Java failures to the exceptions of this module.

    Raises:
        StaleTable: the table has changed since it was read.
        IcebergFailure: any other failure.
    """
    try:
        yield
    except Py4JJavaError as error:
        if error.java_exception.getClass().getName() in STALE:
            raise StaleTable(f"{doing}: {error.java_exception.getMessage()}") from error
        raise IcebergFailure(f"{doing}: {error.java_exception.toString()}") from error
    except (Py4JError, CapturedException) as error:
        raise IcebergFailure(f"{doing}: {error}") from error


class IcebergCatalog:
    """The catalog of one Spark session."""

    def __init__(self, spark: SparkSession) -> None:
        prefix = f"spark.sql.catalog.{CATALOG}"
        self.spark = spark
        with java_failures("open the Iceberg catalog"):
            self.java: Any = java_classes(spark)
            self.api: Any = self.java.org.apache.iceberg
            if spark.conf.get(prefix, None) is None:
                raise OutputError(
                    "the format iceberg needs the Iceberg runtime, which this Spark session does not have",
                    "install tidegate[iceberg], or set iceberg.packages in tidegate.toml",
                )
            self._catalog: Any = self._open(spark)

    def table(self, name: TableName) -> Any | None:
        """Return the current state of a table; None when it does not exist."""
        with java_failures(f"load {sql_name(name)}"):
            try:
                return self._catalog.loadTable(self._identifier(name))
            except Py4JJavaError as error:
                if error.java_exception.getClass().getName() in NO_TABLE:
                    return None
                raise

    def exists(self, name: TableName) -> bool:
        """Return whether a table exists."""
        with java_failures(f"look for {sql_name(name)}"):
            return self._catalog.tableExists(self._identifier(name))

    def draft(self, name: TableName, schema: Any, spec: Any, properties: dict[str, str]) -> Any:
        """Return a transaction that creates a table; the table does not exist before `swap`."""
        with java_failures(f"plan {sql_name(name)}"):
            namespace = self._namespace(name[0])
            if not self._catalog.namespaceExists(namespace):
                self._create_namespace(namespace)
            builder = self._catalog.buildTable(self._identifier(name), schema).withPartitionSpec(spec)
            for key, value in properties.items():
                builder = builder.withProperty(key, value)
            return builder.createTransaction()

    def swap(self, name: TableName, operations: Any, read: Any | None, made: Any) -> None:
        """Replace a table's metadata by `made` if it is still `read`; None expects that there is no table.

        Raises:
            StaleTable: the metadata has changed, and the swap had no effect.
            IcebergFailure: the answer is lost. The caller must verify whether the swap happened.
        """
        with self.exclusive(name), java_failures(f"commit to {sql_name(name)}"):
            operations.commit(read, made)

    def drop(self, name: TableName) -> None:
        """Remove a table's metadata, and its data files unless its property gc.enabled is false."""
        with java_failures(f"drop {sql_name(name)}"):
            self._catalog.dropTable(self._identifier(name), True)

    def names(self, namespace: str) -> tuple[str, ...]:
        """Return the names of the tables in a namespace, sorted."""
        with java_failures(f"list {namespace}"):
            found = self._namespace(namespace)
            if not self._catalog.namespaceExists(found):
                return ()
            return tuple(sorted(table.name() for table in each(self._catalog.listTables(found))))

    @contextmanager
    def exclusive(self, name: TableName) -> Iterator[None]:
        """Exclude other commits on a table if its catalog does not compare and swap by itself.

        A `hadoop` catalog in a local folder commits by a rename that would silently replace the
        metadata of another commit. The JVM holds the file lock, because it also makes the commit: the lock
        ends with that process, not before.
        """
        if self._lock_root is None:
            yield
            return
        with _commit_lock:
            file = self.java.java.io.File(f"{self._lock_root}/{LOCK_FOLDER}/{quote('.'.join(name))}.lock")
            with java_failures(f"lock {sql_name(name)}"):
                file.getParentFile().mkdirs()
                channel = self.java.java.io.RandomAccessFile(file, "rw").getChannel()
            try:
                with java_failures(f"lock {sql_name(name)}"):
                    channel.lock()
                yield
            finally:
                channel.close()

    def files_below(self, folder: str, io: Any | None = None) -> tuple[str, ...]:
        """Return all files below a folder; none for a folder that does not exist.

        Args:
            io: Iceberg's FileIO of the folder's table, for a store that Hadoop may not support.
        """
        with java_failures(f"list {folder}"):
            if self._has_prefixes(io):
                return tuple(one.location() for one in self._infos_by_prefix(folder, io))
            path, system = self._hadoop(folder)
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
            path, system = self._hadoop(folder)
            listed = system.listStatus(path) if system.exists(path) else []
            entries = [listed[number] for number in range(len(listed))]
            return tuple(sorted(entry.getPath().getName() for entry in entries if entry.isDirectory()))

    def sizes_in(self, folder: str, io: Any | None = None) -> dict[str, int]:
        """Return the length in bytes of each file in a folder by name; none for a folder that does not exist.

        Args:
            io: see `files_below`.
        """
        with java_failures(f"list {folder}"):
            if self._has_prefixes(io):
                listed = self._infos_by_prefix(folder, io)
                return {str(one.location()).rpartition("/")[2]: int(one.size()) for one in listed}
            path, system = self._hadoop(folder)
            entries = system.listStatus(path) if system.exists(path) else []
            found = (entries[number] for number in range(len(entries)))
            return {str(one.getPath().getName()): int(one.getLen()) for one in found if one.isFile()}

    def count_below(self, folder: str, io: Any | None = None) -> int:
        """Return the number of files that `files_below` returns."""
        if self._has_prefixes(io):
            return len(self.files_below(folder, io))
        with java_failures(f"count {folder}"):
            path, system = self._hadoop(folder)
            return system.getContentSummary(path).getFileCount() if system.exists(path) else 0

    def delete(self, path: str, io: Any | None = None) -> None:
        """Remove a file, or a folder with its content; a path that does not exist is not an error.

        Args:
            io: see `files_below`.
        """
        with java_failures(f"delete {path}"):
            if self._has_prefixes(io):
                # With the slash, because on an object store "_1" is also a prefix of "_10".
                io.deletePrefix(f"{path}/")
                io.deleteFile(path)
                return
            where, system = self._hadoop(path)
            system.delete(where, True)

    def _has_prefixes(self, io: Any | None) -> TypeGuard[Any]:
        if io is None or io.getClass().getName() == HADOOP_IO:
            # HadoopFileIO does the same as this module, but slower.
            return False
        gateway: Any = self.spark.sparkContext._gateway
        return is_instance_of(gateway, io, "org.apache.iceberg.io.SupportsPrefixOperations")

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

    def java_list(self, texts: Iterable[str]) -> Any:
        """Return texts as a Java list."""
        made = self.java.java.util.ArrayList()
        for text in texts:
            made.add(text)
        return made

    def _open(self, spark: SparkSession) -> Any:
        try:
            # Each Python thread has a Java thread, and a catalog is opened with the settings of the session
            # that is active there. In a thread that recovers commits, no other call may have activated ours.
            self.java.org.apache.spark.sql.SparkSession.setActiveSession(spark._jsparkSession)
            return self.api.spark.Spark3Util.loadIcebergCatalog(spark._jsparkSession, CATALOG)
        except (Py4JJavaError, CapturedException) as error:
            fault = opening_fault(str(error))
            if fault is None:
                raise
            raise OutputError(*fault) from error

    def _hadoop(self, path: str) -> tuple[Any, Any]:
        where = self._path(path)
        return where, where.getFileSystem(self._hadoop_conf)

    def _create_namespace(self, namespace: Any) -> None:
        try:
            self._catalog.createNamespace(namespace)
        except (Py4JError, CapturedException):
            # Another process may have created it at the same time.
            if not self._catalog.namespaceExists(namespace):
                raise

    def _identifier(self, name: TableName) -> Any:
        return self.api.catalog.TableIdentifier.of(self._strings(name))

    def _namespace(self, name: str) -> Any:
        return self.api.catalog.Namespace.of(self._strings((name,)))

    def _strings(self, texts: Sequence[str]) -> Any:
        gateway: Any = self.spark.sparkContext._gateway
        array = gateway.new_array(self.java.java.lang.String, len(texts))
        for number, text in enumerate(texts):
            array[number] = text
        return array

    @cached_property
    def _lock_root(self) -> str | None:
        prefix = f"spark.sql.catalog.{CATALOG}"
        if self.spark.conf.get(f"{prefix}.type", None) != "hadoop":
            return None
        with java_failures("find the warehouse"):
            path, system = self._hadoop(str(self.spark.conf.get(f"{prefix}.warehouse")))
            return str(path.toUri().getPath()) if system.getScheme() == "file" else None

    # Each lookup of a Java name is a call to the JVM, so frequently used classes are cached.

    @cached_property
    def _hadoop_conf(self) -> Any:
        context: Any = self.spark.sparkContext
        return context._jsc.hadoopConfiguration()

    @cached_property
    def _path(self) -> Any:
        return self.java.org.apache.hadoop.fs.Path

    @cached_property
    def data_files(self) -> Any:
        """Iceberg's `DataFiles`."""
        return self.api.DataFiles

    @cached_property
    def metrics(self) -> Any:
        """Iceberg's `Metrics` of a data file."""
        return self.api.Metrics

    @cached_property
    def text(self) -> Any:
        """Java's class `String`."""
        return self.java.java.lang.Class.forName("java.lang.String")


def each(found: Any) -> Iterator[Any]:
    """Yield the elements of a Java collection.

    A `for` loop over the collection itself ends with a Java exception, for which PySpark makes
    dozens of calls to the JVM.
    """
    iterator = found.iterator()
    while iterator.hasNext():
        yield iterator.next()


def sql_name(name: TableName) -> str:
    """Return the name of a table in SQL."""
    return ".".join((CATALOG, *(f"`{part}`" for part in name)))
