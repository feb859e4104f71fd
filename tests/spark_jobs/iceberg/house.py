"""A house of Iceberg tables for tests: stages, publishes and reads in an app of its own.

Tests of one worker share a Spark session and its catalog, so each has another app. What is
tested are the very functions of a run; here is only what every test would repeat.
"""

from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.frames import frame_of
from tests.spark_jobs.without_spark import leave_one_snapshot
from tidegate.domain.model import PartitionScheme, StaticDimension, TimeDimension, WriteMode
from tidegate.domain.model.dataset import CATALOG
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.iceberg import output as iceberg
from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.iceberg.staging.files import FOLDER, LISTED
from tidegate.spark_jobs.publication.table import Publication, read

DAY = TimeDimension(name="day", cycle="day", start="2013-01-01", timezone="America/New_York")
DAILY = PartitionScheme(time=DAY)
TWO = PartitionScheme(time=DAY, static=StaticDimension(name="code", keys=("007", "a b.c:d", "x_y")))
ROWS = "day string, id int, value string"
D22, D23, D24 = "2013-12-22", "2013-12-23", "2013-12-24"
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
_apps = (f"app{number}" for number in count())


class House:
    """Publishes and reads in an app of its own."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.app = next(_apps)
        self.spark = spark
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.store = MemoryCommitStepStore()
        self.context = CommitContext(files=self.warehouse.files, spark=lambda: spark)
        self.catalog = IcebergCatalog(spark)
        self._commits = 0
        # The tests of a worker share a catalog: what others have left staged is not this one's rubbish.
        self._staged_by_others = set(self._staged())

    def ref(
        self, write: WriteMode, scheme: PartitionScheme | None = DAILY, name: str = "t", *merge_keys: str
    ) -> DatasetRef:
        return DatasetRef(
            app=self.app, name=name, format="iceberg", scheme=scheme, write=write, merge_keys=merge_keys
        )

    def frame(self, *rows: tuple[Any, ...], columns: str = ROWS) -> DataFrame:
        return frame_of(self.spark, rows, columns)

    def publish(self, frame: DataFrame, ref: DatasetRef, *keys: str) -> tuple[PublishedPartition, ...]:
        self._commits += 1
        publication = self.publication(f"c{self._commits}", ref, job=f"job {self._commits}")
        try:
            publication.stage(frame, ref, keys or ("",))
        except OutputError:
            publication.discard()
            raise
        return publication.publish()

    def publication(self, commit: str, *refs: DatasetRef, job: str = "j") -> Publication:
        token = self.store.begin(commit, [ref.id for ref in refs], until=NEVER)
        return Publication(self.warehouse, self.store, commit=commit, token=token, job=job)

    def stage(
        self, frame: DataFrame, ref: DatasetRef, *keys: str, commit: str, token: int
    ) -> iceberg.StagedIceberg:
        return iceberg.stage(frame, ref, keys or ("",), commit=commit, token=token, job="j")

    def rows(self, ref: DatasetRef, *keys: str) -> list[Row]:
        frame = read(self.spark, ref, self.warehouse, keys or None)
        assert frame is not None
        return sorted(frame.collect(), key=lambda row: [(value is not None, value) for value in row])

    def table(self, name: str = "t") -> Any:
        return self.catalog.table((self.app, name))

    def snapshots(self, name: str = "t") -> int:
        return len(list(self.table(name).snapshots()))

    def data_files(self, name: str = "t") -> set[str]:
        root = self.spark.conf.get(f"spark.sql.catalog.{CATALOG}.warehouse")
        found = self.catalog.files.below(f"{root}/{self.app}/{name}/data")
        return {file.removeprefix("file:") for file in found if file.endswith(".parquet")}

    def live_files(self, name: str = "t") -> set[str]:
        """The files of rows and of deletes that the newest snapshot has."""
        found = set[str]()
        for task in each(self.table(name).newScan().planFiles()):
            found |= {task.file().location(), *(one.location() for one in each(task.deletes()))}
        return found

    def maintain(self, *procedures: str, name: str = "t") -> None:
        """Calls Iceberg's procedures, each given as "name(arguments)"."""
        for procedure in procedures:
            called, _, arguments = procedure.removesuffix(")").partition("(")
            table = f"table => '{self.app}.{name}'"
            self.spark.sql(f"CALL tidegate.system.{called}({', '.join(filter(None, (table, arguments)))})")

    def expire(self, name: str = "t") -> None:
        """Leaves one snapshot, and its files. Iceberg finds the others without Spark, which costs less."""
        leave_one_snapshot(self.table(name))

    def staged(self) -> list[str]:
        """What this test has left staged, in tables and without them."""
        return sorted(set(self._staged()) - self._staged_by_others)

    def _staged(self) -> list[str]:
        warehouse = self.spark.conf.get(f"spark.sql.catalog.{CATALOG}.warehouse", None)
        if warehouse is None:
            tables = [self.table(name) for name in self.catalog.names(self.app)]
            listed = [name for table in tables for name in staged_below(_local(table.location()))]
        else:
            listed = staged_below(_local(warehouse), f"{self.app}/*/")
        return [*self.catalog.names(STAGING_NAMESPACE), *listed]

    def operations(self, name: str = "t") -> list[str]:
        """What Iceberg calls each change, oldest first."""
        return [snapshot.operation() for snapshot in self.table(name).snapshots()]

    def columns(self, name: str = "t") -> list[str]:
        return [field.name() for field in self.table(name).schema().columns()]


def staged_below(folder: Path, tables: str = "") -> list[str]:
    """The names under which something is staged without a table, for the tables whose folders match."""
    return [file.name for file in folder.glob(f"{tables}data/{FOLDER}/s*") if file.suffix != LISTED]


def _local(location: str) -> Path:
    return Path(location.removeprefix("file:"))
