"""Iceberg's catalog and tables through its Java API.

SQL cannot put a commit id and a property into the same commit as the rows, so tables are
used as Java objects in the session's JVM. There is one catalog, which
`spark_jobs.iceberg.catalog.runtime` configures; other modules decide what is published. Java failures
become `StaleTable`, or an `OSError` after which the caller must verify whether the effect happened.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from tidegate.domain.model.dataset import CATALOG
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.iceberg.catalog.failures import IcebergFailure, StaleTable, java_failures
from tidegate.spark_jobs.iceberg.catalog.java_texts import JavaTexts
from tidegate.spark_jobs.iceberg.catalog.options import opening_fault
from tidegate.spark_jobs.iceberg.catalog.runtime import MADE_FOR, installed_spark
from tidegate.spark_jobs.iceberg.catalog.table_cache import table_cache
from tidegate.spark_jobs.iceberg.catalog.table_files import TableFiles
from tidegate.spark_jobs.java.elements import Elements
from tidegate.spark_jobs.java.jvm import call_java, java_classes, send_without_delay

STAGING_NAMESPACE = "_tidegate_staging"
"""No app has this name: names of apps begin with a letter."""
LOCK_FOLDER = "_tidegate_locks"

TableName = tuple[str, str]
"""Namespace and name of a table."""

IDENTIFIERS = 1_000
"""How many names of tables are kept as Java objects."""

NO_TABLE = (
    "org.apache.iceberg.exceptions.NoSuchTableException",
    "org.apache.iceberg.exceptions.NoSuchNamespaceException",
)

SESSIONS = 4
"""How many sessions of one process keep their catalog open. Most processes have one."""

_commit_lock = threading.Lock()
_active = threading.local()


def catalog_of(spark: SparkSession) -> "IcebergCatalog":
    """Return the catalog of a session, which is opened once.

    Raises:
        OutputError, IcebergFailure: see `IcebergCatalog`.
    """
    catalog = _opened(spark)
    catalog.activate()
    return catalog


@lru_cache(SESSIONS)
def _opened(spark: SparkSession) -> "IcebergCatalog":
    return IcebergCatalog(spark)


class IcebergCatalog:
    """The catalog of one Spark session.

    Attributes:
        texts: collections of texts in its JVM.
        files: the files and folders of tables.
        published: the data files that this process has added by a commit to a table, until its staging tables
            are dropped. They are facts of a snapshot, which never change.
        staged: the data files that this process has staged, by the name of an attempt's staging.

    Raises:
        OutputError: the session has no Iceberg, or the settings of its catalog are wrong.
        IcebergFailure: the catalog cannot be opened.
    """

    def __init__(self, spark: SparkSession) -> None:
        prefix = f"spark.sql.catalog.{CATALOG}"
        self.spark = spark
        with java_failures("open the Iceberg catalog"):
            self.java: Any = java_classes(spark)
            self.api: Any = self.java.org.apache.iceberg
            if spark.conf.get(prefix, None) is None:
                raise _no_runtime(spark.conf.get(MADE_FOR, None))
            self._catalog: Any = self._open(spark)
        self.texts = JavaTexts(self.java)
        self.files = TableFiles(spark)
        self.published: dict[tuple[TableName, str], frozenset[str]] = {}
        self.staged: dict[str, Any] = {}
        self._identifiers: dict[TableName, Any] = {}
        self._namespaces: dict[str, Any] = {}

    def activate(self) -> None:
        """Make the session active in this Python thread, which has a Java thread of its own."""
        if getattr(_active, "session", None) is not self.spark:
            with java_failures("open the Iceberg catalog"):
                self._activate(self.spark)

    def table(self, name: TableName) -> Any | None:
        """Return the current state of a table; None when it does not exist."""
        with java_failures(f"load {sql_name(name)}"):
            try:
                return call_java(self._catalog.loadTable, self._identifier(name))
            except Py4JJavaError as error:
                if error.java_exception.getClass().getName() in NO_TABLE:
                    return None
                raise

    def exists(self, name: TableName) -> bool:
        """Return whether a table exists."""
        with java_failures(f"look for {sql_name(name)}"):
            return self._catalog.tableExists(self._identifier(name))

    def has_namespace(self, namespace: str) -> bool:
        """Return whether a namespace exists."""
        with java_failures(f"look for {namespace}"):
            return bool(self._catalog.namespaceExists(self._namespace(namespace)))

    def draft(self, name: TableName, schema: Any, spec: Any, properties: dict[str, str]) -> Any:
        """Return a transaction that creates a table; the table does not exist before `swap`.

        Raises:
            StaleTable: the table exists by now.
        """
        try:
            return self._draft(name, schema, spec, properties)
        except IcebergFailure as failure:
            # Iceberg looks for the table twice, and has another error for one that appears in between.
            if self.exists(name):
                raise StaleTable(str(failure)) from failure
            raise

    def _draft(self, name: TableName, schema: Any, spec: Any, properties: dict[str, str]) -> Any:
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

    def drop_metadata(self, name: TableName) -> None:
        """Remove the metadata of a table whose property gc.enabled is false."""
        with java_failures(f"drop {sql_name(name)}"):
            # In a `hadoop` catalog all metadata is in the folder of the table, which goes as a whole.
            self._catalog.dropTable(self._identifier(name), self.hadoop_warehouse is None)

    def properties(self, table: Any) -> dict[str, str]:
        """Return the properties of a table. Their names have no "="."""
        with java_failures("read the properties of a table"):
            pairs = self.texts.read(table.properties().entrySet())
        return {name: value for name, _, value in (pair.partition("=") for pair in pairs)}

    def names(self, namespace: str) -> tuple[str, ...]:
        """Return the names of the tables in a namespace, sorted."""
        with java_failures(f"list {namespace}"):
            found = self._namespace(namespace)
            if not self._catalog.namespaceExists(found):
                return ()
            listed = self.texts.read(self._catalog.listTables(found))
            return tuple(sorted(one.removeprefix(f"{namespace}.") for one in listed))

    def listed(self, found: Any) -> Any:
        """Return the elements of what Java can go through as a Java list."""
        return self.java.org.apache.commons.collections4.IterableUtils.toList(found)

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
            folder = f"{self._lock_root}/{LOCK_FOLDER}"
            # On the disk of this machine, which is that of the JVM too.
            Path(folder).mkdir(parents=True, exist_ok=True)
            with java_failures(f"lock {sql_name(name)}"):
                file = f"{folder}/{quote('.'.join(name))}.lock"
                channel = self.java.java.io.RandomAccessFile(file, "rw").getChannel()
            try:
                with java_failures(f"lock {sql_name(name)}"):
                    channel.lock()
                yield
            finally:
                channel.close()

    def _activate(self, spark: SparkSession) -> None:
        self.java.org.apache.spark.sql.SparkSession.setActiveSession(spark._jsparkSession)
        send_without_delay(spark)
        _active.session = spark

    def _open(self, spark: SparkSession) -> Any:
        try:
            # Each Python thread has a Java thread, and a catalog is opened with the settings of the session
            # that is active there. In a thread that recovers commits, no other call may have activated ours.
            self._activate(spark)
            return self.api.spark.Spark3Util.loadIcebergCatalog(spark._jsparkSession, CATALOG)
        except (Py4JJavaError, CapturedException) as error:
            fault = opening_fault(str(error))
            if fault is None:
                raise
            raise OutputError(*fault) from error

    def _create_namespace(self, namespace: Any) -> None:
        try:
            self._catalog.createNamespace(namespace)
        except (Py4JError, CapturedException):
            # Another process may have created it at the same time.
            if not self._catalog.namespaceExists(namespace):
                raise

    def _identifier(self, name: TableName) -> Any:
        found = self._identifiers.get(name)
        if found is None:
            if len(self._identifiers) >= IDENTIFIERS:
                self._identifiers.clear()
            found = self._identifiers[name] = self.api.catalog.TableIdentifier.of(self.texts.array(name))
        return found

    def _namespace(self, name: str) -> Any:
        found = self._namespaces.get(name)
        if found is None:
            found = self._namespaces[name] = self.api.catalog.Namespace.of(self.texts.array((name,)))
        return found

    @cached_property
    def _lock_root(self) -> str | None:
        if self.hadoop_warehouse is None:
            return None
        with java_failures("find the warehouse"):
            path, system = self.files.hadoop(self.hadoop_warehouse)
            return str(path.toUri().getPath()) if system.getScheme() == "file" else None

    @cached_property
    def hadoop_warehouse(self) -> str | None:
        """The folder of the tables, without a slash at its end; None if the type is not `hadoop`."""
        prefix = f"spark.sql.catalog.{CATALOG}"
        if self.spark.conf.get(f"{prefix}.type", None) != "hadoop":
            return None
        return str(self.spark.conf.get(f"{prefix}.warehouse")).rstrip("/")

    # Each lookup of a Java name is a call to the JVM, so frequently used classes are cached.

    @cached_property
    def cache(self) -> Any:
        """Iceberg's cache of tables that are in no catalog."""
        return table_cache(self.java, self.spark)

    @cached_property
    def elements(self) -> Elements:
        """What is done with all elements of a Java list at once."""
        return Elements(self.spark)

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


def sql_name(name: TableName) -> str:
    """Return the name of a table in SQL."""
    return ".".join((CATALOG, *(f"`{part}`" for part in name)))


def _no_runtime(made_for: str | None) -> OutputError:
    """Return why a session has no Iceberg.

    Args:
        made_for: for which Spark a runtime is that is here; None where there is none.
    """
    here = installed_spark()
    if made_for is None or here is None:
        return OutputError(
            "the format iceberg needs the Iceberg runtime, which this Spark session does not have",
            "install tidegate[iceberg] with Python below 3.13, or set iceberg.packages in tidegate.toml",
        )
    return OutputError(
        f"the format iceberg needs a runtime for Spark {here.minor} with Scala {here.scala}, which Spark"
        f" {here.version} is, and the one that is here is for {made_for}",
        f"set iceberg.packages to Maven's iceberg-spark-runtime-{here.minor}_{here.scala}, or install the"
        " Spark of the runtime: pip install 'pyspark<3.6'",
    )
