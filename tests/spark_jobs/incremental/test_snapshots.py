"""Rows appended to a real Iceberg table: what is read of its history, and what stops the reader."""

from itertools import count
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.effort import pick
from tests.spark_jobs.staging import DAILY
from tests.spark_jobs.without_spark import append, leave_one_snapshot
from tidegate.domain.model import PartitionScheme, StaticDimension
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.increment import IncrementalRead
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.iceberg.catalog.catalog import catalog_of
from tidegate.spark_jobs.iceberg.new_rows import read_new_snapshots
from tidegate.spark_jobs.java.jvm import java_classes
from tidegate.spark_jobs.programs.params import Params

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

D22, D23, D24 = "2013-12-22", "2013-12-23", "2013-12-24"
_apps = (f"history{number}" for number in count())


class Source:
    """A table that others write, and a program that follows it."""

    def __init__(self, spark: SparkSession, warehouse: Warehouse, *, daily: bool = True) -> None:
        self.spark = spark
        self.ref = DatasetRef(app=next(_apps), name="t", format="iceberg", scheme=DAILY if daily else None)
        self.name = f"tidegate.{self.ref.app}.t"
        self.warehouse = warehouse
        self.positions: dict[str, str] = {}
        self.reset: set[str] = set()
        self.sql(f"create namespace tidegate.{self.ref.app}")
        cut = "partitioned by (day)" if daily else ""
        self.sql(f"create table {self.name} (id int, day string) using iceberg {cut}")

    def sql(self, text: str) -> None:
        self.spark.sql(text.replace("THE_TABLE", self.name).replace("SHORT", f"{self.ref.app}.t"))

    @property
    def java(self) -> Any:
        return catalog_of(self.spark).table((self.ref.app, self.ref.name))

    def append(self, *rows: tuple[int, str]) -> None:
        """Adds a snapshot with one file for each day, as another engine does: without Spark."""
        api = java_classes(self.spark).org.apache.iceberg
        append(api, self.java, [{"id": id, "day": day} for id, day in rows])

    def compact(self) -> None:
        self.sql(
            "call tidegate.system.rewrite_data_files(table => 'SHORT', options => map('rewrite-all', 'true'))"
        )

    def expire(self) -> None:
        """Leaves the current snapshot alone."""
        leave_one_snapshot(self.java)

    def read(self, *keys: str) -> list[tuple[int, str]]:
        """Reads what is new and commits it."""
        new = read_new_snapshots(
            self.spark,
            IncrementalRead(
                consumer="test/load",
                ref=self.ref,
                warehouse=self.warehouse,
                params=Params(),
                positions=self.positions,
                reset=frozenset(self.reset),
                selects=lambda key: not keys or key in keys,
                selects_all=not keys,
            ),
        )
        assert new.frame is not None
        rows = sorted((row.id, row.day) for row in new.frame.collect())
        self.positions |= new.positions
        self.reset -= new.positions.keys()
        return rows


@pytest.fixture
def warehouse(iceberg_warehouse) -> Warehouse:
    return Warehouse(path=iceberg_warehouse, project=iceberg_warehouse)


@pytest.fixture
def source(spark: SparkSession, warehouse: Warehouse) -> Source:
    return Source(spark, warehouse)


def test_everything_first_then_what_was_appended(source: Source) -> None:
    source.append((1, D22), (2, D23))
    assert source.read() == [(1, D22), (2, D23)]
    source.append((3, D22))
    source.append((4, D24))
    assert source.read() == [(3, D22), (4, D24)]
    assert source.read() == []
    assert list(source.positions) == [""]


def test_a_table_without_partitions(spark: SparkSession, warehouse: Warehouse) -> None:
    source = Source(spark, warehouse, daily=False)
    source.append((1, "x"))
    assert source.read() == [(1, "x")]
    source.append((2, "x"))
    assert source.read() == [(2, "x")]


def test_a_table_without_snapshots_or_none_at_all_has_no_columns(source: Source, spark: SparkSession) -> None:
    for ref in (source.ref, DatasetRef(app=source.ref.app, name="none", format="iceberg")):
        asked = IncrementalRead(consumer="test/load", ref=ref, warehouse=source.warehouse, params=Params())
        new = read_new_snapshots(spark, asked)
        assert (new.frame, new.positions) == (None, {})


def test_each_partition_has_a_watermark_of_its_own(source: Source) -> None:
    source.append((1, D22), (2, D23))
    assert source.read(D22) == [(1, D22)]
    source.append((3, D22), (4, D23))
    assert source.read(D23) == [(2, D23), (4, D23)]
    assert source.read(D22) == [(3, D22)]
    assert source.read(D24) == []
    assert sorted(source.positions) == [D22, D23]


def test_runs_of_everything_and_of_single_days_can_alternate(source: Source) -> None:
    source.append((1, D22), (2, D23))
    assert source.read(D22) == [(1, D22)]
    source.append((3, D22))
    assert source.read() == [(2, D23), (3, D22)]
    source.append((4, D22), (5, D23))
    assert source.read(D23) == [(5, D23)]
    assert source.read() == [(4, D22)]
    assert source.read(D22, D23, D24) == []


def test_compaction_brings_nothing_new_and_hides_nothing(source: Source) -> None:
    source.append((1, D22))
    source.read()
    source.append((2, D22))
    source.compact()
    source.append((3, D22))
    source.compact()
    assert source.read() == [(2, D22), (3, D22)]
    source.compact()
    assert source.read() == []


def test_a_commit_that_changes_nothing_stops_nobody(source: Source) -> None:
    source.append((1, D22))
    source.read()
    source.sql("delete from THE_TABLE where id = 99")
    source.append((2, D22))
    assert source.read() == [(2, D22)]


@pytest.mark.parametrize(
    "change",
    pick(
        [
            f"delete from THE_TABLE where day = '{D22}'",
            "update THE_TABLE set id = 7 where id = 1",
            f"insert overwrite THE_TABLE values (8, '{D22}')",
        ],
        1,
    ),
    ids=["delete", "update", "overwrite"],
)
def test_rows_that_were_removed_stop_who_has_read_them(source: Source, change: str) -> None:
    source.append((1, D22), (2, D23))
    source.read(D22)
    source.read(D23)
    source.sql("set spark.sql.sources.partitionOverwriteMode = dynamic")
    source.sql(change)
    # Other tests share the session.
    source.sql("reset spark.sql.sources.partitionOverwriteMode")
    source.append((3, D22), (4, D23))

    with pytest.raises(
        SourceError, match=f"has removed or replaced rows of {D22}, which test/load may have"
    ) as caught:
        source.read(D22)
    # Of the other day nothing was touched.
    assert source.read(D23) == [(4, D23)]

    # The hint's way on: what was appended after the change.
    assert f"--part '{D22}' --to '" in caught.value.hint
    source.positions[D22] = caught.value.hint.split("--to '")[1].removesuffix("'")
    assert source.read(D22) == [(3, D22)]


def test_a_gap_is_an_error_and_never_skipped(source: Source) -> None:
    source.append((1, D22))
    source.read()
    source.append((2, D22))
    source.append((3, D22))
    source.expire()
    with pytest.raises(SourceError, match="later snapshots have expired") as caught:
        source.read()
    assert "tidegate watermarks reset test/load" in caught.value.hint


def test_the_position_itself_may_expire(source: Source) -> None:
    source.append((1, D22))
    source.read()
    source.append((2, D22))
    source.expire()
    assert source.read() == [(2, D22)]


def test_a_table_that_was_rolled_back_is_told(source: Source) -> None:
    source.append((1, D22))
    first = source.java.currentSnapshot().snapshotId()
    source.append((2, D22))
    source.read()
    source.sql(f"call tidegate.system.rollback_to_snapshot('SHORT', {first})")
    with pytest.raises(SourceError, match="the table was rolled back or created again"):
        source.read()


def test_a_part_that_was_reset_is_read_whole_again(source: Source) -> None:
    source.append((1, D22), (2, D23))
    source.read()
    source.reset.add(D22)
    assert source.read(D22) == [(1, D22)]
    source.reset.add(D22)
    del source.positions[D22]
    assert source.read() == [(1, D22)]
    assert source.read() == []


def test_a_position_of_another_kind_is_told(source: Source) -> None:
    source.append((1, D22))
    source.positions[""] = '{"files": {}}'
    with pytest.raises(SourceError, match="is not a snapshot"):
        source.read()


def test_a_column_that_was_added_meanwhile_is_read(source: Source) -> None:
    source.append((1, D22))
    source.read(D22)
    source.sql("alter table THE_TABLE add column more int")
    source.sql(f"insert into THE_TABLE values (2, '{D22}', 5), (3, '{D23}', 6)")
    assert source.read(D22, D23) == [(2, D22), (3, D23)]


def test_a_partition_of_two_dimensions_is_followed_apart(spark: SparkSession, warehouse: Warehouse) -> None:
    codes = StaticDimension(name="code", keys=("007", "a b.c:d"))
    ref = DatasetRef(
        app=next(_apps), name="t", format="iceberg", scheme=PartitionScheme(time=DAILY.time, static=codes)
    )
    name = f"tidegate.{ref.app}.t"
    spark.sql(f"create namespace tidegate.{ref.app}")
    spark.sql(
        f"create table {name} (id int, code string, day string) using iceberg partitioned by (code, day)"
    )
    positions: dict[str, str] = {}

    def read(key: str) -> list[int]:
        asked = IncrementalRead(
            consumer="test/load",
            ref=ref,
            warehouse=warehouse,
            params=Params(),
            positions=positions,
            selects=lambda one: one == key,
            selects_all=False,
        )
        new = read_new_snapshots(spark, asked)
        assert new.frame is not None
        positions.update(new.positions)
        return sorted(row.id for row in new.frame.collect())

    spark.sql(f"insert into {name} values (1, '007', '{D22}'), (2, 'a b.c:d', '{D22}'), (3, '007', '{D23}')")
    assert read(f"007|{D22}") == [1]
    assert read(f"a b.c:d|{D22}") == [2]
    spark.sql(f"insert into {name} values (4, '007', '{D22}'), (5, '007', '{D23}')")
    assert (read(f"007|{D22}"), read(f"007|{D23}"), read(f"a b.c:d|{D22}")) == ([4], [3, 5], [])
