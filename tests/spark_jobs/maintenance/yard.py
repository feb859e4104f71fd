"""Tables under maintenance, for tests: those of datasets, and others of Spark; and what ends a run."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from tests.spark_jobs.iceberg.house import House
from tests.spark_jobs.without_spark import append, plain_table
from tidegate.domain.maintenance.reported import Ended, Health
from tidegate.domain.model import HealthRules, Operation
from tidegate.domain.model.dataset import CATALOG
from tidegate.spark_jobs.commit.clock import SystemClock
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable
from tidegate.spark_jobs.maintenance.measuring import measure
from tidegate.spark_jobs.maintenance.operation import run_operation
from tidegate.spark_jobs.maintenance.request import MaintenanceContext, OperationRequest, TableTarget

REWRITE, MANIFESTS = Operation.REWRITE_DATA_FILES, Operation.REWRITE_MANIFESTS
EXPIRE, ORPHANS = Operation.EXPIRE_SNAPSHOTS, Operation.REMOVE_ORPHAN_FILES
DAY = 86_400
TASKS = "spark.sql.shuffle.partitions"


class Later(SystemClock):
    """The clock of this machine, but some days ahead: what was just written is old."""

    def __init__(self, days: float) -> None:
        self._ahead = timedelta(days=days)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead


class Stopped(SystemClock):
    """A clock that shows one instant only."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        return self._at


class Steered:
    """Answers what a running operation asks. `at` is called with the number of each call before that."""

    def __init__(
        self,
        at: Callable[[int], object] = lambda _: None,
        *,
        yields: int = 0,
        stops: int = 0,
    ) -> None:
        """Args:
        yields, stops: the call of its kind that is answered with yes; 0 for none.
        """
        self.calls = 0
        self._at = at
        self._left = {"yields": yields, "stops": stops}

    def should_yield(self) -> bool:
        return self._asked("yields")

    def should_stop(self) -> bool:
        return self._asked("stops")

    def _asked(self, kind: str) -> bool:
        self.calls += 1
        self._at(self.calls)
        self._left[kind] -= 1
        return self._left[kind] == 0


def killed_at(call: int) -> Steered:
    """The process dies when the operation asks for the n-th time."""

    def die(number: int) -> None:
        if number == call:
            raise KeyboardInterrupt

    return Steered(die)


def activate(spark: SparkSession) -> None:
    """Makes a session the active one again, after a test has used another."""
    java: Any = spark._jvm
    java.SparkSession.setActiveSession(spark._jsparkSession)
    SparkSession._activeSession = spark


@contextmanager
def few_tasks(spark: SparkSession, operation: Operation) -> Iterator[None]:
    """Let the sets of files that Iceberg compares be compared by one task: a few files need no four."""
    if operation not in (EXPIRE, ORPHANS):
        yield
        return
    usual = str(spark.conf.get(TASKS))
    spark.conf.set(TASKS, "1")
    try:
        yield
    finally:
        spark.conf.set(TASKS, usual)


class Yard(House):
    """An app whose tables are maintained."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        super().__init__(folder, spark)
        self.clock: SystemClock = SystemClock()
        self.full_name = f"tidegate.{self.app}.t"

    def copied(self, folder: Path) -> "Yard":
        """The same app in another folder, with its Parquet tables and all that the store knows of them."""
        made = Yard(folder, self.spark)
        shutil.copytree(str(self.warehouse.path), str(made.warehouse.path), symlinks=True)
        made.app, made.store, made._commits = self.app, copy(self.store), self._commits
        for name, known in vars(self.store).items():
            if isinstance(known, dict):
                setattr(made.store, name, deepcopy(known))
        return made

    def sql(self, *statements: str) -> None:
        """Another writer: `T` is the table."""
        for statement in statements:
            self.spark.sql(statement.replace(" T ", f" {self.full_name} "))

    def make(self, cut: str = "PARTITIONED BY (day)", properties: str = "'format-version' = '2'") -> None:
        """A table that is not a dataset."""
        self.sql(
            f"CREATE NAMESPACE IF NOT EXISTS tidegate.{self.app}",
            f"CREATE TABLE T (day string, id int, value string) USING iceberg {cut} "
            f"TBLPROPERTIES ({properties})",
        )

    def insert(self, *rows: tuple[str, int]) -> None:
        """One commit of another writer, with a file for each day; without Spark, which costs less."""
        table = CatalogTable(self.spark, self.full_name)
        append(table.api, table.load(), [{"day": day, "id": id, "value": str(id)} for day, id in rows])

    def all_rows(self) -> list[tuple[Any, ...]]:
        """The rows of the table, sorted: what no operation may change.

        Spark reads what pyiceberg cannot: deletes of every kind, and tables of other catalogs.
        """
        table = self.table() if self.full_name == f"{CATALOG}.{self.app}.t" else None
        now = None if table is None else table.currentSnapshot()
        if now is None or now.summary().get("total-delete-files") != "0":
            return sorted(tuple(row) for row in self.spark.table(self.full_name).collect())
        return sorted(tuple(row.values()) for row in plain_table(table).scan().to_arrow().to_pylist())

    def linked(self, ref: DatasetRef) -> list[tuple[Any, ...]]:
        """What a plain reader of the link of a Parquet table sees, sorted."""
        found = pq.read_table(f"{ref.root(self.warehouse)}/current")
        return sorted(tuple(row.values()) for row in found.to_pylist())

    def target(self, ref: DatasetRef | None = None) -> TableTarget:
        return TableTarget(name=self.full_name if ref is None else ref.id, ref=ref)

    def run(
        self,
        operation: Operation,
        ref: DatasetRef | None = None,
        *,
        control: Steered | None = None,
        excluded: tuple[str, ...] = (),
        **options: Any,
    ) -> Ended:
        context = MaintenanceContext(
            spark=lambda: self.spark, warehouse=self.warehouse, store=self.store, clock=self.clock
        )
        request = OperationRequest(
            table=self.target(ref), operation=operation, options=options, excluded=excluded, job="j1"
        )
        with few_tasks(self.spark, operation):
            return run_operation(context, request, control or Steered())

    def health(self, ref: DatasetRef | None = None, **rules: Any) -> Health:
        found = measure(
            self.spark, self.target(ref), HealthRules(**rules), self.clock.now(), warehouse=self.warehouse
        )
        assert isinstance(found, Health)
        return found

    def files_by_day(self) -> dict[str, set[str]]:
        """The data files of each partition."""
        found: dict[str, set[str]] = {}
        for task in each(self.table().newScan().planFiles()):
            found.setdefault(task.file().partition().get(0), set()).add(task.file().location())
        return found
