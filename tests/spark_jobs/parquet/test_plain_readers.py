"""Readers that know nothing of Tidegate, in a loop while a table is overwritten and merged.

A version has the same number in all rows, so a look that mixes versions, doubles rows or misses some shows.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.dataset as ds
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import tidegate.read
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.effort import much, only, pick
from tests.spark_jobs.frames import frame_of
from tests.spark_jobs.iceberg.house import House
from tests.spark_jobs.staging import begin
from tidegate.domain.model import PartitionScheme, StaticDimension, TimeDimension, WriteMode
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.publication.table import Publication

pytestmark = pytest.mark.spark

SCHEME = PartitionScheme(
    time=TimeDimension(name="day", cycle="day", start="2013-01-01"),
    static=StaticDimension(name="code", keys=("007", "a b/c%=é")),
)
KEYS = tuple(f"{code}|{day}" for code in ("007", "a b/c%=é") for day in ("2013-12-22", "2013-12-23"))
IDS = 2
VERSIONS = much(3)
PAUSE_SECONDS = 0.1
"""Between two looks, since the publishes share two cores with all readers."""
MERGED = {"write": "merge", "merge_keys": ("id",)}

Look = Callable[[], set[tuple[int, ...]]]
"""One look at the table: its version numbers, each with how many rows have it."""


def rows(spark: SparkSession, version: int) -> DataFrame:
    made = [(*key.split("|"), number, version, "mine") for key in KEYS for number in range(IDS)]
    return frame_of(spark, made, "code string, day string, id int, version int, v string")


class Readers:
    """Looks at a table in threads, one for each kind of reader, until it is stopped."""

    def __init__(self, *looks: Look) -> None:
        self.seen: list[list[set[tuple[int, ...]]]] = [[] for _ in looks]
        self.faults: list[Exception] = []
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._loop, args=(look, seen))
            for look, seen in zip(looks, self.seen, strict=True)
        ]

    def __enter__(self) -> "Readers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _loop(self, look: Look, seen: list[set[tuple[int, ...]]]) -> None:
        try:
            while not self._stop.wait(PAUSE_SECONDS):
                seen.append(look())
        except Exception as fault:  # noqa: BLE001 -- whatever a reader raises fails the test
            self.faults.append(fault)


def spark_look(spark: SparkSession, read: Callable[[], DataFrame]) -> Look:
    def look() -> set[tuple[int, ...]]:
        found = [row.version for row in read().select("version").collect()]
        return {(version, found.count(version)) for version in found}

    return look


def arrow_look(read: Callable[[], ds.Dataset]) -> Look:
    def look() -> set[tuple[int, ...]]:
        found = read().to_table(columns=["version"])["version"].to_pylist()
        return {(version, found.count(version)) for version in found}

    return look


def duckdb_look(places: Callable[[], str | list[str]]) -> Look:
    connection = duckdb.connect(config={"threads": 1})

    def look() -> set[tuple[int, ...]]:
        found = connection.read_parquet(places()).query("t", "SELECT version, count(*) FROM t GROUP BY 1")
        return set(found.fetchall())

    return look


def or_no_file(look: Look) -> Look:
    """Look again until no file has vanished under the reader, which is how a switch shows if it shows."""

    def again() -> set[tuple[int, ...]]:
        while True:
            try:
                return look()
            except duckdb.IOException as fault:
                assert "No such file" in str(fault) or "No files found" in str(fault), fault

    return again


def publish(
    spark: SparkSession, warehouse: Warehouse, store: MemoryCommitStepStore, ref: DatasetRef, version: int
) -> None:
    commit = f"{ref.name}-{version}"
    token = begin(store, commit, [ref.id])
    publication = Publication(warehouse, store, commit=commit, token=token, spark=lambda: spark)
    publication.stage(rows(spark, version), ref, KEYS)
    publication.publish()


def check(readers: Readers) -> None:
    assert readers.faults == []
    for seen in readers.seen:
        assert all(len(look) == 1 for look in seen), "two versions in one look"
        assert {count for look in seen for _, count in look} == {len(KEYS) * IDS}
        versions = [version for look in seen for version, _ in look]
        assert versions == sorted(versions) and len(set(versions)) > 1


@pytest.mark.parametrize(
    "more", pick([{"write": "overwrite_partitions"}, MERGED], 1), ids=["overwrite", "merge"]
)
def test_readers_of_a_parquet_table_see_one_version(
    tmp_path: Path, spark: SparkSession, more: dict[str, Any]
) -> None:
    ref = DatasetRef(app="test", name="t", scheme=SCHEME, **more)
    warehouse, store = Warehouse(path=tmp_path, project=tmp_path), MemoryCommitStepStore()
    root = ref.root(warehouse)
    publish(spark, warehouse, store, ref, 0)

    def current() -> str:
        return os.path.realpath(f"{root}/current")

    with Readers(
        spark_look(spark, lambda: spark.read.parquet(current())),
        spark_look(spark, lambda: tidegate.read.spark(spark, root)),
        arrow_look(lambda: ds.dataset(current(), format="parquet", partitioning="hive")),
        arrow_look(lambda: tidegate.read.pyarrow(root)),
        duckdb_look(lambda: f"{current()}/*.parquet"),
        duckdb_look(lambda: tidegate.read.files(root)),
        or_no_file(duckdb_look(lambda: f"{root}/current/**/*.parquet")),
    ) as readers:
        for version in range(1, VERSIONS):
            publish(spark, warehouse, store, ref, version)
    check(readers)

    # A pattern below the dataset's folder itself reads several versions; Spark finds nothing that it reads.
    assert len(duckdb_look(lambda: f"{root}/**/*.parquet")()) > 1
    with pytest.raises(AnalysisException):
        spark.read.parquet(root)

    # The columns are those of the program: texts such as "007", a column `v` of its own, and no other.
    wanted = sorted(tuple(row) for row in rows(spark, VERSIONS - 1).collect())
    columns = ["code", "day", "id", "version", "v"]
    for frame in (spark.read.parquet(current()), tidegate.read.spark(spark, root)):
        assert sorted(frame.columns) == sorted(columns)
        assert sorted(tuple(row) for row in frame.select(*columns).collect()) == wanted
    for dataset in (ds.dataset(current(), partitioning="hive"), tidegate.read.pyarrow(root)):
        found = dataset.to_table()
        assert sorted(found.column_names) == sorted(columns)
        assert sorted(tuple(row[name] for name in columns) for row in found.to_pylist()) == wanted
    for places in (f"{current()}/*.parquet", tidegate.read.files(root)):
        relation = duckdb.read_parquet(places)
        assert sorted(relation.columns) == sorted(columns)
        assert sorted(relation.select(*columns).fetchall()) == wanted


@pytest.mark.parametrize("write", only(["overwrite_partitions", "merge"], "merge"))
def test_readers_of_an_iceberg_table_see_one_version(
    tmp_path: Path, spark: SparkSession, write: WriteMode
) -> None:
    house = House(tmp_path, spark)
    ref = house.ref(write, SCHEME, "t", *(("id",) if write == "merge" else ()))
    store = MemoryCommitStepStore()
    publish(spark, house.warehouse, store, ref, 0)
    with Readers(spark_look(spark, lambda: spark.table(f"tidegate.{ref.app}.t"))) as readers:
        for version in range(1, VERSIONS):
            publish(spark, house.warehouse, store, ref, version)
    check(readers)


def test_pyarrow_gets_the_columns_of_the_table(tmp_path: Path, spark: SparkSession) -> None:
    """Added columns, nested ones, times and an emptied table."""
    ref = DatasetRef(app="test", name="t", scheme=SCHEME, write="append")
    warehouse, store = Warehouse(path=tmp_path, project=tmp_path), MemoryCommitStepStore()
    first = rows(spark, 1)
    second = rows(spark, 2).selectExpr(
        "*", "array(id, 7) AS list", "named_struct('a', id) AS pair", "map('k', id) AS map",
        "timestamp'2013-12-22 10:00:00' AS at", "date'2013-12-22' AS on", "1.50BD AS price",
    )  # fmt: skip
    for number, frame in enumerate((first, second)):
        token = begin(store, f"c{number}", [ref.id])
        publication = Publication(warehouse, store, commit=f"c{number}", token=token, spark=lambda: spark)
        publication.stage(frame, ref, KEYS)
        publication.publish()
    root = ref.root(warehouse)

    found = tidegate.read.pyarrow(root, keys=[KEYS[0]]).to_table().to_pylist()
    assert len(found) == 2 * IDS
    assert [row["list"] for row in found if row["version"] == 1] == [None] * IDS
    assert sorted(row["list"] for row in found if row["version"] == 2) == [[n, 7] for n in range(IDS)]
    newest = next(row for row in found if row["version"] == 2)
    assert (str(newest["at"]), str(newest["on"]), str(newest["price"])) == (
        "2013-12-22 10:00:00+00:00",
        "2013-12-22",
        "1.50",
    )
    assert newest["pair"] == {"a": newest["id"]} and newest["map"] == [("k", newest["id"])]

    nothing = tidegate.read.pyarrow(root, keys=["2014-01-01|007"])
    assert nothing.count_rows() == 0 and nothing.schema.names == tidegate.read.pyarrow(root).schema.names
