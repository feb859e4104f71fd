"""An Iceberg table of a Spark session, in whichever catalog: its current state, and commits on it.

`iceberg.catalog` knows only Tidegate's own catalog. Here a table is loaded by its name in Spark. A commit
replaces exactly the metadata that it was computed for, and excludes the publishes of Tidegate where the
catalog does not compare and swap by itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import AnalysisException
from pyspark.sql import SparkSession

from tidegate.domain.model.dataset import CATALOG
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.iceberg.catalog.catalog import NO_TABLE, IcebergCatalog, catalog_of
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.catalog.half_done import mend_version_hint
from tidegate.spark_jobs.iceberg.catalog.table_cache import table_cache
from tidegate.spark_jobs.iceberg.catalog.table_files import TableFiles
from tidegate.spark_jobs.java.jvm import java_classes
from tidegate.spark_jobs.maintenance.progress import TableGone

SESSION_CATALOG = "spark_catalog"
NAME_PARTS = 3
NOT_FOUND = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")
LOST_RACE = (
    "org.apache.iceberg.exceptions.CommitFailedException",
    "org.apache.iceberg.exceptions.ValidationException",
)
"""What Iceberg raises when other commits have changed what a commit replaces. It has not happened then."""


class CatalogTable:
    """A table by its name in Spark.

    Attributes:
        name: "catalog.namespace.table".
        java: all packages of the session's JVM.
        api: Iceberg's package.
    """

    def __init__(self, spark: SparkSession, name: str) -> None:
        parts = tuple(name.split("."))
        if len(parts) < NAME_PARTS or not all(parts):
            raise SourceError(f"{name!r} is not the name of a table", "write it as catalog.namespace.table")
        self.name = name
        self.spark = spark
        self.java: Any = java_classes(spark)
        self.api: Any = self.java.org.apache.iceberg
        self._parts = parts

    @cached_property
    def cache(self) -> Any:
        """Iceberg's cache of tables that are in no catalog."""
        return table_cache(self.java, self.spark)

    @property
    def sql(self) -> str:
        """The name in SQL."""
        return ".".join(f"`{part}`" for part in self._parts)

    def load(self) -> Any:
        """Return the current state of the table, as Iceberg's own object.

        Raises:
            TableGone: it does not exist.
            SourceError: Spark has no such catalog, or the table is not an Iceberg table.
        """
        catalog = self._parts[0]
        if catalog != SESSION_CATALOG and self.spark.conf.get(f"spark.sql.catalog.{catalog}", None) is None:
            raise SourceError(
                f"{self.name}: Spark has no catalog {catalog}",
                f'set "spark.sql.catalog.{catalog}" and its options in [spark.conf]',
            )
        try:
            table = self.api.spark.Spark3Util.loadIcebergTable(self.spark._jsparkSession, self.sql)
            if self._is_cached:
                table.refresh()
        except AnalysisException as error:
            if error.getErrorClass() in NOT_FOUND:
                raise self._gone() from error
            raise SourceError(f"{self.name}: {str(error).splitlines()[0]}") from error
        except Py4JJavaError as error:
            kind = error.java_exception.getClass().getName()
            if kind in NO_TABLE:
                raise self._gone() from error
            if kind == "java.lang.IllegalArgumentException":
                raise SourceError(f"{self.name}: {error.java_exception.getMessage()}") from error
            raise
        return table

    def mend_version_hint(self) -> None:
        """Let readers of the table's folder find the newest state; see `iceberg.catalog.version_hint`."""
        mend_version_hint(TableFiles(self.spark), self.load())

    def swap(self, transaction: Any) -> None:
        """Make the changes of a transaction, if the table is still what it was when the transaction began.

        Raises:
            StaleTable: it has changed, and nothing was committed.
            IcebergFailure: the answer is lost.
        """
        with self.exclusive(), java_failures(f"commit to {self.name}"):
            transaction.underlyingOps().commit(transaction.startMetadata(), transaction.currentMetadata())

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Exclude publishes of Tidegate; see `IcebergCatalog.exclusive`."""
        if self._own is None or len(self._parts) != NAME_PARTS:
            yield
            return
        with self._own.exclusive((self._parts[1], self._parts[2])):
            yield

    def actions(self) -> Any:
        """Return Iceberg's actions in this session."""
        return self.api.spark.actions.SparkActions.get(self.spark._jsparkSession)

    @cached_property
    def _own(self) -> IcebergCatalog | None:
        """Tidegate's catalog, if the table is in it."""
        return catalog_of(self.spark) if self._parts[0] == CATALOG else None

    @property
    def _is_cached(self) -> bool:
        return self.spark.conf.get(f"spark.sql.catalog.{self._parts[0]}.cache-enabled", "true") != "false"

    def _gone(self) -> TableGone:
        return TableGone(f"{self.name} does not exist")


def is_lost_race(error: Exception) -> bool:
    """Return whether Iceberg refused a commit because others have changed the table; nothing has happened."""
    return isinstance(error, Py4JJavaError) and error.java_exception.getClass().getName() in LOST_RACE
