"""A table that several runs, and other writers than Tidegate, write at the same time; with its programs.

A run is stopped when its program has read its inputs: then `MEANWHILE` happens.
"""

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType, StringType, StructType

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.frames import frame_of
from tests.spark_jobs.iceberg.house import staged_below
from tests.spark_jobs.staging import DAILY, begin, stage_tables
from tests.spark_jobs.without_spark import leave_one_snapshot, rows_of
from tidegate.domain.model import Dataset, OnForeign, Program, WriteMode
from tidegate.domain.model.table_format import DatasetFormat
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.errors import CommitConflict
from tidegate.spark_jobs.iceberg.catalog.catalog import STAGING_NAMESPACE, IcebergCatalog
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import Publication, sequence_of
from tidegate.spark_jobs.runner import run_program

D22, D23 = "2013-12-22", "2013-12-23"
COLUMNS = "day string, id int, value int"
SCHEMA = StructType().add("day", StringType()).add("id", IntegerType()).add("value", IntegerType()).json()
ARROW = pa.schema([("day", pa.string()), ("id", pa.int32()), ("value", pa.int32())])
MEANWHILE: list[Callable[[], object]] = []
"""Each happens once, in the middle of a run."""

Row = tuple[str, int, int]
_apps = (f"shared{number}" for number in count())


def copied(spark: SparkSession, inputs: Mapping[str, DataFrame], params: Any) -> DataFrame:
    """Returns the rows of the source."""
    _meanwhile()
    return inputs["source"]


def counted(spark: SparkSession, inputs: Mapping[str, DataFrame | None], params: Any) -> DataFrame:
    """Adds one to the value of each row that it has written before."""
    rows = inputs["table"]
    _meanwhile()
    if rows is None:
        return frame_of(spark, [(D22, 1, 1)], COLUMNS)
    return rows.withColumn("value", sf.col("value") + 1)


def copied_twice(
    spark: SparkSession, inputs: Mapping[str, DataFrame], params: Any
) -> Mapping[str, DataFrame]:
    """Returns the rows of the source for two tables."""
    rows = copied(spark, inputs, params)
    return {"other": rows, "table": rows}


HERE = "tests.spark_jobs.shared_table"
COPY = Program(name="copy", run=f"{HERE}.copied", reads=("source",), writes=("table",))
COPY_TWICE = Program(
    name="copy_twice", run=f"{HERE}.copied_twice", reads=("source",), writes=("other", "table")
)
COUNT = Program(name="count", run=f"{HERE}.counted", reads=("table",), writes=("table",))


def _meanwhile() -> None:
    if MEANWHILE:
        MEANWHILE.pop(0)()


class Shared:
    """An app with a source, the table and another one."""

    def __init__(
        self,
        folder: Path,
        spark: SparkSession,
        write: WriteMode,
        format: DatasetFormat = "iceberg",
        on_foreign: OnForeign = "refuse",
        other: WriteMode = "overwrite_partitions",
    ) -> None:
        MEANWHILE.clear()
        self.app, self.spark = next(_apps), spark
        self.store = MemoryCommitStepStore()
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.context = CommitContext(files=self.warehouse.files, spark=lambda: spark)
        self.datasets = {
            "source": Dataset(name="source"),
            "other": Dataset(name="other", partitions=DAILY, format=format, write=other),
            "table": Dataset(
                name="table",
                partitions=DAILY,
                format=format,
                write=write,
                merge_keys=("id",) if write == "merge" else (),
                on_foreign=on_foreign,
            ),
        }
        self.ref = dataset_ref(self.app, self.datasets["table"])
        self.name = f"tidegate.{self.app}.table"
        self._commits = (f"c{number}" for number in count(1))

    def feed(self, *rows: Row) -> None:
        """Makes these rows the source, which is published without Spark."""
        ref, commit = dataset_ref(self.app, self.datasets["source"]), next(self._commits)
        token = begin(self.store, commit, [ref.id])
        columns = zip(ARROW, zip(*rows, strict=True), strict=True)
        table = pa.table([pa.array(values, field.type) for field, values in columns], schema=ARROW)
        staged = stage_tables(self.warehouse, ref, {"": table}, SCHEMA, commit=commit, token=token)
        publish(sequence_of(commit, token, [staged]), self.store, self.context)

    def staged_beside(self, commit: str, *rows: Row) -> Publication:
        """Another run, which reads the table and writes these rows, as it is just before its publish."""
        token = begin(self.store, commit, [self.ref.id])
        publication = Publication(self.warehouse, self.store, commit=commit, token=token)
        publication.stage(frame_of(self.spark, rows, COLUMNS), self.ref, (D22,), reads=True)
        return publication

    def run(self, program: Program = COPY, *keys: str, commit: str = "") -> tuple[PublishedPartition, ...]:
        return run_program(
            self.spark,
            self.warehouse,
            self.store,
            app=self.app,
            program=program,
            datasets=self.datasets,
            params=Params(partitions=keys or (D22,), manifest={}, job="job"),
            commit=commit or next(self._commits),
        )

    def refused(self, commit: str, program: Program = COPY) -> str:
        """Runs what must end with a conflict, and returns its message."""
        try:
            self.run(program, commit=commit)
        except CommitConflict as conflict:
            return conflict.message
        raise AssertionError(f"{commit} was published: {self.rows()}")

    def rows(self, name: str = "table") -> list[Row]:
        found = rows_of(self.spark, dataset_ref(self.app, self.datasets[name]), self.warehouse)
        return sorted((row["day"], row["id"], row["value"]) for row in found)

    def sql(self, *statements: str) -> None:
        """Another writer: `T` is the table."""
        for statement in statements:
            self.spark.sql(statement.replace(" T ", f" {self.name} "))

    def maintain(self, *procedures: str) -> None:
        """Iceberg's procedures, each given as "name(arguments)"."""
        for procedure in procedures:
            called, _, arguments = procedure.removesuffix(")").partition("(")
            table = f"table => '{self.app}.table'"
            self.spark.sql(f"CALL tidegate.system.{called}({', '.join(filter(None, (table, arguments)))})")

    def expire(self) -> None:
        """Leaves one snapshot."""
        table = IcebergCatalog(self.spark).table(self.ref.place)
        assert table is not None
        leave_one_snapshot(table)

    def staged(self) -> list[str]:
        """What is staged for this app, in tables and without them."""
        catalog = IcebergCatalog(self.spark)
        tables = [
            name for name in catalog.names(STAGING_NAMESPACE) if f"/{self.app}/" in _data_path(catalog, name)
        ]
        warehouse = self.spark.conf.get("spark.sql.catalog.tidegate.warehouse").removeprefix("file:")
        return [*tables, *staged_below(Path(warehouse), f"{self.app}/*/")]


def _data_path(catalog: IcebergCatalog, name: str) -> str:
    table = catalog.table((STAGING_NAMESPACE, name))
    return "" if table is None else str(table.properties()["write.data.path"])
