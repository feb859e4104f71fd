"""Lists the Iceberg tables of Spark catalogs, whatever their kind: hadoop, REST, JDBC, Hive, Glue and others.

A name is "catalog.namespace.table". Namespaces may be nested: "catalog.a.b.table" is the table `table` of the
namespace `a.b`, and a pattern of a policy sees it as the namespace `a` and the table `b.table`. A namespace
or a catalog that cannot be read is reported and does not hide the others. Views, and tables of other formats
in Spark's session catalog, are left out, and so is what Tidegate itself keeps in a catalog.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from py4j.java_gateway import is_instance_of
from py4j.protocol import Py4JError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from tidegate.domain.value import Value
from tidegate.spark_jobs.java.jvm import failure_text, java_classes

OURS = "_tidegate_"
"""Begins the names of the namespaces in which Tidegate keeps staging and locks."""
ICEBERG_CATALOGS = (
    "org.apache.iceberg.spark.SparkCatalog",
    "org.apache.iceberg.spark.SparkSessionCatalog",
)
CATALOG_PREFIX = "spark.sql.catalog."
MIXED = "SparkSessionCatalog"
"""Ends the class of a catalog whose list has tables of all formats, and views."""
SPARK_TABLE = "org.apache.iceberg.spark.source.SparkTable"
MAX_DEPTH = 10
"""Of nested namespaces."""
PLACES = (
    "location",
    "write.data.path",
    "write.metadata.path",
    "write.folder-storage.path",
    "write.object-storage.path",
)
"""The properties of a table in Spark that name a folder of its files."""
NOT_A_TABLE = ("NoSuchTableException", "NoSuchViewException", "NoSuchNamespaceException")


class Unlisted(Value, kw_only=True):
    """A part of a catalog that could not be listed, or a table whose name cannot be used, and why."""

    where: str
    why: str


class Listing(Value, kw_only=True):
    """The tables that were found.

    Attributes:
        tables: full names, sorted.
        complete: the catalogs that were listed without a failure. A table of one of them that is not in
            `tables` does not exist.
    """

    tables: tuple[str, ...] = ()
    complete: tuple[str, ...] = ()
    failures: tuple[Unlisted, ...] = ()


class KnownPlace(Value, kw_only=True):
    """Where a table of a catalog, of any format, has its files.

    Attributes:
        name: its full name.
        places: its folders.
        metadata: the file of its newest metadata; "" unless it is an Iceberg table.
    """

    name: str
    places: tuple[str, ...]
    metadata: str = ""


def iceberg_catalogs(spark: SparkSession) -> tuple[str, ...]:
    """Return the names of all Iceberg catalogs in the settings of a session, sorted."""
    settings = ((row[0], row[1]) for row in spark.sql("SET").collect())
    return tuple(
        sorted(
            name.removeprefix(CATALOG_PREFIX)
            for name, value in settings
            if name.startswith(CATALOG_PREFIX) and value in ICEBERG_CATALOGS
        )
    )


def list_tables(spark: SparkSession, catalogs: Sequence[str]) -> Listing:
    """Return the Iceberg tables of some catalogs."""
    tables: set[str] = set()
    failures: list[Unlisted] = []
    complete: list[str] = []
    for name in dict.fromkeys(catalogs):
        before = len(failures)
        try:
            catalog = _catalog(spark, name)
        except (Py4JError, CapturedException, ValueError) as error:
            failures.append(Unlisted(where=name, why=failure_text(error)))
            continue
        lister = _Lister(spark, name, catalog, failures)
        tables.update(lister.tables((), 0))
        if len(failures) == before:
            complete.append(name)
    return Listing(tables=tuple(sorted(tables)), complete=tuple(complete), failures=tuple(failures))


def known_places(spark: SparkSession, catalogs: Sequence[str]) -> tuple[list[KnownPlace], list[Unlisted]]:
    """Return the places of all tables of some catalogs, and what could not be looked at."""
    found: list[KnownPlace] = []
    failures: list[Unlisted] = []
    for name in dict.fromkeys(catalogs):
        try:
            catalog = _catalog(spark, name)
        except (Py4JError, CapturedException, ValueError) as error:
            failures.append(Unlisted(where=name, why=failure_text(error)))
            continue
        lister = _Lister(spark, name, catalog, failures)
        for table, identifier in lister.identifiers((), 0):
            found += lister.places_of(table, identifier)
    return found, failures


class _Lister:
    """Lists one catalog."""

    def __init__(self, spark: SparkSession, name: str, catalog: Any, failures: list[Unlisted]) -> None:
        self._name = name
        self._catalog = catalog
        self._failures = failures
        self._gateway: Any = spark.sparkContext._gateway
        self._is_mixed = str(catalog.getClass().getName()).endswith(MIXED)
        # Each folder that is not a table counts as a namespace there, those with data files too.
        self._has_folders = spark.conf.get(f"{CATALOG_PREFIX}{name}.type", None) == "hadoop"

    def tables(self, namespace: tuple[str, ...], depth: int) -> Iterator[str]:
        """Yield the full names of the tables in a namespace and the namespaces in it."""
        for name, identifier in self.identifiers(namespace, depth):
            yield from self._named(name, str(identifier.name()), identifier)

    def places_of(self, name: str, identifier: Any) -> Iterator[KnownPlace]:
        """Yield the places of a table; nothing for a view, and for a table that is gone by now."""
        try:
            loaded = self._catalog.loadTable(identifier)
            properties = loaded.properties()
            places = tuple(str(place) for key in PLACES if (place := properties.get(key)))
            metadata = ""
            if is_instance_of(self._gateway, loaded, SPARK_TABLE):
                metadata = str(loaded.table().operations().current().metadataFileLocation())
            yield KnownPlace(name=name, places=places, metadata=metadata)
        except (Py4JError, CapturedException) as error:
            why = failure_text(error)
            if not any(kind in why for kind in NOT_A_TABLE):
                self._failures.append(Unlisted(where=name, why=why))

    def identifiers(self, namespace: tuple[str, ...], depth: int) -> Iterator[tuple[str, Any]]:
        """Yield what the catalog lists as tables, with full names, in a namespace and those in it."""
        where = ".".join((self._name, *namespace))
        if namespace:
            try:
                found = list(self._catalog.listTables(self._strings(namespace)))
            except (Py4JError, CapturedException) as error:
                self._failures.append(Unlisted(where=where, why=failure_text(error)))
                found = []
            for identifier in found:
                yield f"{where}.{identifier.name()}", identifier
        if depth >= MAX_DEPTH:
            self._failures.append(Unlisted(where=where, why=f"more than {MAX_DEPTH} nested namespaces"))
            return
        for inner in self._namespaces(namespace, where):
            yield from self.identifiers(inner, depth + 1)

    def _namespaces(self, namespace: tuple[str, ...], where: str) -> list[tuple[str, ...]]:
        try:
            listed = (
                self._catalog.listNamespaces(self._strings(namespace))
                if namespace
                else self._catalog.listNamespaces()
            )
            found = [tuple(str(part) for part in one) for one in listed]
        except (Py4JError, CapturedException) as error:
            self._failures.append(Unlisted(where=where, why=failure_text(error)))
            return []
        # Session catalogs answer a namespace with itself.
        return [one for one in found if len(one) > len(namespace) and self._may_have_tables(one)]

    def _may_have_tables(self, namespace: tuple[str, ...]) -> bool:
        if namespace[0].startswith(OURS):
            return False
        return not self._has_folders or not (namespace[-1].startswith(("_", ".")) or "=" in namespace[-1])

    def _named(self, name: str, table: str, identifier: Any) -> Iterator[str]:
        if "." in table or "`" in name:
            self._failures.append(Unlisted(where=name, why="a dot or a backtick is in its name"))
        elif not self._is_mixed or self._is_iceberg(name, identifier):
            yield name

    def _is_iceberg(self, name: str, identifier: Any) -> bool:
        try:
            return is_instance_of(self._gateway, self._catalog.loadTable(identifier), SPARK_TABLE)
        except (Py4JError, CapturedException) as error:
            self._failures.append(Unlisted(where=name, why=failure_text(error)))
            return False

    def _strings(self, texts: Sequence[str]) -> Any:
        array = self._gateway.new_array(self._gateway.jvm.java.lang.String, len(texts))
        for number, text in enumerate(texts):
            array[number] = text
        return array


def _catalog(spark: SparkSession, name: str) -> Any:
    """Return a catalog of Spark.

    Raises:
        ValueError: it is not one of Iceberg's.
    """
    session: Any = spark._jsparkSession
    # The session catalog is looked up in the settings of the active session.
    java_classes(spark).org.apache.spark.sql.SparkSession.setActiveSession(session)
    found = session.sessionState().catalogManager().catalog(name)
    if found.getClass().getName() not in ICEBERG_CATALOGS:
        raise ValueError(f"{name} is not an Iceberg catalog, but {found.getClass().getSimpleName()}")
    return found
