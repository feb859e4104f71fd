"""Frames of pandas, DuckDB, pyarrow and others as outputs: the table has their rows, nothing is left."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tidegate.domain.model import Dataset, PartitionScheme, Program, TimeDimension
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.errors import ProgramError
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read_selected
from tidegate.spark_jobs.runner import run_program

pytestmark = pytest.mark.spark

DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2026-01-01"))
OUT = Dataset(name="out", partitions=DAILY)
KEYS = ("2026-01-01", "2026-01-02")
COLUMNS = {"id": [1, 2, 3], "day": [KEYS[0], KEYS[1], KEYS[1]], "name": ["a", None, "ü"]}

RETURNS: dict[str, Callable[[], Any]] = {}
"""What the program returns, by the name of the case."""


class Stream:
    """A frame of a library that has only the protocol, such as polars."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas with an index of its own": lambda: pd.DataFrame(COLUMNS, index=[7, 3, 5]),
    "pyarrow": lambda: pa.table(COLUMNS),
    "a reader": lambda: pa.table(COLUMNS).to_reader(max_chunksize=1),
    "a stream": lambda: Stream(pa.table(COLUMNS)),
    "duckdb": lambda: duckdb.from_arrow(pa.table(COLUMNS)),
    "a dictionary": lambda: {"out": pd.DataFrame(COLUMNS)},
}


def give(spark: SparkSession, inputs: dict[str, Any], params: Any) -> Any:
    """The program."""
    return RETURNS[params.args["case"]]()


class Runs:
    def __init__(self, folder: Path, spark: SparkSession, files: LocalFiles | None = None) -> None:
        self.spark, self.store = spark, MemoryCommitStepStore()
        self.folder = folder / "warehouse"
        self.warehouse = Warehouse(path=self.folder, project=folder, files=files or LocalFiles())

    def run(self, returned: Callable[[], Any]) -> list[dict[str, Any]]:
        RETURNS["case"] = returned
        run_program(
            self.spark,
            self.warehouse,
            self.store,
            app="arrow",
            program=Program(name="p", run=f"{__name__}.give", writes=("out",)),
            datasets={"out": OUT},
            params=Params(partitions=KEYS, args={"case": "case"}),
            commit="c1",
        )
        RETURNS.clear()
        frame = read_selected(self.spark, dataset_ref("arrow", OUT), self.warehouse, lambda key: True, ())
        assert frame is not None
        return sorted((row.asDict() for row in frame.collect()), key=lambda row: row["id"])

    def left(self) -> list[str]:
        return [
            str(file) for file in self.folder.rglob("*") if "_checkpoints" in file.parts and file.is_file()
        ]


@pytest.mark.parametrize("name", FRAMES)
def test_the_table_has_the_rows_of_the_frame(name: str, tmp_path: Path, spark: SparkSession) -> None:
    runs = Runs(tmp_path, spark)
    assert runs.run(FRAMES[name]) == [
        {"id": 1, "day": KEYS[0], "name": "a"},
        {"id": 2, "day": KEYS[1], "name": None},
        {"id": 3, "day": KEYS[1], "name": "ü"},
    ]
    assert runs.left() == []


def test_values_keep_their_types(tmp_path: Path, spark: SparkSession) -> None:
    day = pd.Timestamp("2026-01-01 03:00", tz="UTC")
    frame = pd.DataFrame(
        {"id": [1], "day": [KEYS[0]], "at": [day], "kind": pd.Categorical(["x"]), "price": [Decimal("1.20")]}
    )
    (row,) = Runs(tmp_path, spark).run(lambda: frame)
    assert (row["kind"], row["price"]) == ("x", Decimal("1.20"))
    assert row["at"].astimezone(UTC) == datetime(2026, 1, 1, 3, tzinfo=UTC)


UNFIT = {
    "time": ({"t": pa.array([1], pa.time64("us"))}, "the column t of type time64"),
    "duration": ({"t": pa.array([1], pa.duration("s"))}, "the column t of type duration"),
    "null": ({"t": pa.nulls(1)}, "the column t without a type"),
    "nanoseconds": ({"t": pa.array([1], pa.timestamp("ns"))}, "would lose data"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_column_that_cannot_be_published_fails_the_run_with_its_name(
    name: str, tmp_path: Path, spark: SparkSession
) -> None:
    columns, message = UNFIT[name]
    table = pa.table({"id": [1], "day": [KEYS[0]], **columns})
    runs = Runs(tmp_path, spark)
    with pytest.raises(ProgramError, match=message):
        runs.run(lambda: table)
    assert runs.left() == []


def test_a_series_is_not_a_table(tmp_path: Path, spark: SparkSession) -> None:
    with pytest.raises(ProgramError, match="a table that cannot be written"):
        Runs(tmp_path, spark).run(lambda: pd.Series([1]))


class Remote(LocalFiles):
    """A file system that Python cannot write."""

    def local_path(self, place: str) -> Path | None:
        return None


def test_where_python_cannot_write_the_file_is_uploaded(tmp_path: Path, spark: SparkSession) -> None:
    runs = Runs(tmp_path, spark, Remote())
    assert [row["id"] for row in runs.run(lambda: pd.DataFrame(COLUMNS))] == [1, 2, 3]
    assert runs.left() == []
