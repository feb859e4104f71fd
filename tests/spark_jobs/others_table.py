"""A table that a program appends to, and that others change: in any format, and in any Iceberg catalog.

Each run appends the row with its number to one partition. A run may die when its commit is put.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import tidegate.read
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.frames import frame_of
from tests.spark_jobs.iceberg.house import D22, DAILY
from tests.spark_jobs.without_spark import PlainRow, iceberg_files, rows_of
from tidegate.domain.model import App, Dataset, Program, WriteMode
from tidegate.domain.model.table_format import DatasetFormat
from tidegate.spark_jobs.commit import publish as publishing
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.finish import read_sequence
from tidegate.spark_jobs.commit.outputs import outputs_in
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.sequence import CommitSequence
from tidegate.spark_jobs.commit.step import PublishStep
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.errors import CommitUnknown
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.repair.fsck import Examined, Finding, fsck
from tidegate.spark_jobs.runner import run_program

_apps = (f"others{number}" for number in count())


class Died(Exception):
    """The process of a run ends here."""


def one_row(spark: SparkSession, inputs: object, params: Any) -> DataFrame:
    """A program: the row of its run."""
    return frame_of(spark, [(params.args["run"], "ours")], "id int, value string")


@dataclass(frozen=True, kw_only=True)
class Table:
    """The table `t` of an app of its own.

    Attributes:
        catalog: its Iceberg catalog, "" for Parquet.
    """

    spark: SparkSession
    warehouse: Warehouse
    format: DatasetFormat
    catalog: str
    app: str = field(default_factory=lambda: next(_apps))
    store: MemoryCommitStepStore = field(default_factory=MemoryCommitStepStore)

    def dataset(self, write: WriteMode = "append") -> Dataset:
        return Dataset(name="t", partitions=DAILY, format=self.format, write=write)

    @property
    def ref(self) -> DatasetRef:
        return dataset_ref(self.app, self.dataset())

    @property
    def context(self) -> CommitContext:
        return CommitContext(files=self.warehouse.files, spark=lambda: self.spark)

    @property
    def folder(self) -> Path:
        """Of the table; there is one in every catalog."""
        if self.format == "iceberg":
            return Path(self.java.location().removeprefix("file:"))
        return Path(self.ref.root(self.warehouse))

    def run(
        self, number: int, write: WriteMode = "append", store: MemoryCommitStepStore | None = None
    ) -> None:
        """The run with the commit id cN, which writes the row N."""
        run_program(
            self.spark,
            self.warehouse,
            store or self.store,
            app=self.app,
            program=Program(name="p", run=f"{__name__}.one_row", writes=("t",)),
            datasets={"t": self.dataset(write)},
            params=Params(partitions=(D22,), args={"run": number}),
            commit=f"c{number}",
        )

    def put(self, number: int, write: WriteMode = "append") -> None:
        """The same run, which dies before the first step of its commit."""
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Died):
            patch.setattr(publishing, "finish", _dies)
            self.run(number, write)

    def swap(self, number: int) -> None:
        """The same run, which dies after its rows are published, before it reports them."""
        self.put(number)
        sequence, last = self._sequence(number), self.step(number)
        for step in sequence.steps[: sequence.steps.index(last) + 1]:
            step.execute(self.context)

    def step(self, number: int) -> PublishStep:
        """The step that publishes the rows of a commit that is put."""
        (output,) = outputs_in(self._sequence(number))
        return output.step

    def _sequence(self, number: int) -> CommitSequence:
        return read_sequence(f"c{number}", self.store.get(f"c{number}") or "")

    def now(self) -> datetime:
        return datetime.now(UTC)

    def recover(self) -> tuple[str, ...]:
        return recover([self.ref.id], self.store, self.context)

    def stops(self, words: str) -> None:
        """The commit that is put cannot be finished, and it remains."""
        waiting = self.store.list_unfinished()
        with pytest.raises(CommitUnknown, match=words):
            self.recover()
        assert self.store.list_unfinished() == waiting != ()

    def rows(self) -> list[int]:
        return sorted(row["id"] for row in self.found())

    def values(self) -> list[str]:
        return sorted(row["value"] for row in self.found())

    def words(self, column: str) -> list[tuple[int, str | None]]:
        """The ids, each with its value in a column of this name."""
        return sorted((row["id"], row[column]) for row in self.found())

    def found(self) -> list[PlainRow]:
        return rows_of(self.spark, self.ref, self.warehouse)

    def findings(self) -> list[Finding]:
        """What fsck finds about the table."""
        program = Program(name="p", run=f"{__name__}.one_row", writes=("t",))
        app = App(name=self.app, datasets={"t": self.dataset()}, programs={"p": program})
        examined = Examined(
            apps=[app],
            warehouse=self.warehouse,
            store=self.store,
            context=self.context,
            now=self.now(),
        )
        return [one for one in fsck(examined) if self.app in one.where or one.where.startswith("c")]

    def sql(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(statement.format(T=f"tidegate.{self.app}.t"))

    def call(self, procedure: str, arguments: str = "") -> None:
        """Calls a procedure of Iceberg."""
        given = f"table => '{self.app}.t'{', ' if arguments else ''}{arguments}"
        self.spark.sql(f"CALL tidegate.system.{procedure}({given})")

    @property
    def java(self) -> Any:
        return IcebergCatalog(self.spark).table((self.app, "t"))

    def snapshot(self) -> int:
        return self.java.currentSnapshot().snapshotId()

    def files(self) -> list[Path]:
        """The data files of the newest state."""
        if self.format == "iceberg":
            found = iceberg_files(self.spark, self.ref.place)
        else:
            found = tidegate.read.files(self.ref.root(self.warehouse))
        return sorted(Path(file.removeprefix("file:")) for file in found)

    def staged(self) -> list[Path]:
        """The data files that wait to be published."""
        newest = {file.name for file in self.files()}
        found = self.folder.rglob("part-*.parquet" if self.format == "parquet" else "*.parquet")
        return [file for file in found if file.name not in newest and "_views" not in str(file)]

    def drop(self) -> None:
        if self.format == "parquet":
            shutil.rmtree(self.folder)
        else:
            self.sql("DROP TABLE {T} PURGE")

    def rename(self) -> Callable[[], object]:
        """Renames the table, or moves its folder where the catalog has no renames; returns the way back."""
        if self.catalog in ("hive", "jdbc"):
            here, away = (f"{self.app}.{name}" for name in ("t", "away"))
            self.spark.sql(f"ALTER TABLE tidegate.{here} RENAME TO {away}")
            return lambda: self.spark.sql(f"ALTER TABLE tidegate.{away} RENAME TO {here}")
        here = self.folder
        away = here.rename(here.with_name("away"))
        return lambda: away.rename(here)


def _dies(*_: object, **__: object) -> None:
    raise Died


Row = Callable[[Table], None]
