"""The columns of an Iceberg table: they come with the rows that bring them, and keep their meaning."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.effort import only
from tests.spark_jobs.iceberg.house import D22, D23, DAILY, ROWS, House
from tidegate.domain.model import WriteMode
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.publication.table import read

pytestmark = pytest.mark.spark


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession) -> House:
    return House(tmp_path, spark)


def test_new_columns_are_added_and_keep_their_meaning(house: House) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    table = house.table()
    table.updateSchema().deleteColumn("id").commit()
    wider = house.frame((D22, "b", 0.5), columns="day string, value string, share double")
    house.publish(wider, ref, D22)
    house.publish(house.frame((D22, "c"), columns="day string, value string"), ref, D22)
    assert house.rows(ref) == [(D22, "a", None), (D22, "b", 0.5), (D22, "c", None)]

    with pytest.raises(OutputError, match="do not fit those of"):
        house.publish(house.frame((D22, 1.5), columns="day string, value double"), ref, D22)


def test_what_was_only_staged_changes_no_table(house: House) -> None:
    """A run that dies before its sequence is put leaves everything as it was."""
    ref = house.ref("append")
    first = house.publication("c0", ref)
    first.stage(house.frame((D22, 1, "a")), ref, (D22,))
    assert house.table() is None
    assert read(house.spark, ref, house.warehouse) is None
    first.publish()

    wider = house.publication("c1", ref)
    wider.stage(house.frame((D22, 2, 0.5), columns="day string, id long, share double"), ref, (D22,))
    before = house.table().operations().current().metadataFileLocation()
    assert house.columns() == ["day", "id", "value"]
    wider.publish()
    assert house.columns() == ["day", "id", "value", "share"]
    assert house.rows(ref) == [(D22, 1, "a", None), (D22, 2, None, 0.5)]
    assert house.table().operations().current().previousFiles()[-1].file() == before, "all came in one commit"


def test_an_empty_table_made_by_hand_reads_like_none(house: House) -> None:
    ref = house.ref("append")
    house.spark.sql(f"CREATE NAMESPACE tidegate.{house.app}")
    house.spark.sql(f"CREATE TABLE tidegate.{house.app}.t (day string, note string) PARTITIONED BY (day)")
    assert read(house.spark, ref, house.warehouse) is None
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    assert house.rows(ref) == [(D22, None, 1, "a")]


def test_two_runs_that_add_columns_at_once(house: House) -> None:
    """Both were staged when the next number of a column was free, and the files of both carry it."""
    ref = house.ref("append")
    staged = [
        house.stage(
            house.frame((D22, *row), columns=f"day string, {columns}"), ref, D22, commit=commit, token=1
        )
        for commit, row, columns in (
            ("c1", (1, "x"), "id int, word string"),
            ("c2", (2, 0.5, {"n": 7}), "id int, share double, nested struct<n: int>"),
            ("c3", ("y", 3), "word string, id long"),
        )
    ]
    for one in staged:
        one.version_step().execute(house.context)
        one.cleaning_step().execute(house.context)
    assert house.columns() == ["day", "id", "word", "share", "nested"]
    assert house.rows(ref) == [
        (D22, 1, "x", None, None),
        (D22, 2, None, 0.5, (7,)),
        (D22, 3, "y", None, None),
    ]
    assert house.data_files() == house.live_files()


def test_a_column_is_the_same_in_any_case_of_letters(house: House) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    house.publish(house.frame((D22, 2, "b"), columns="day string, ID int, Value string"), ref, D22)
    assert house.rows(ref) == [(D22, 1, "a"), (D22, 2, "b")]


def test_a_merge_keeps_columns_that_were_renamed_or_are_new(house: House) -> None:
    """Rows that stay are written again with the columns of today, not with those of their snapshot."""
    ref = house.ref("merge", DAILY, "t", "id")
    house.publish(house.frame((D22, 1, "a"), (D22, 2, "b")), ref, D22)
    house.table().updateSchema().renameColumn("value", "word").commit()
    house.publish(house.frame((D22, 2, "B"), columns="day string, id int, word string"), ref, D22)
    assert house.rows(ref) == [(D22, 1, "a"), (D22, 2, "B")]

    by_part = house.ref("merge", DAILY, "t", "id", "part")
    parts = house.frame((D22, 2, "p"), (D22, 2, None), columns="day string, id int, part string")
    house.publish(parts, by_part, D22)
    assert house.rows(ref) == [(D22, 1, "a", None), (D22, 2, None, None), (D22, 2, None, "p")]


def test_files_are_written_as_the_table_wants_them(house: House) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    house.table().updateProperties().set("write.parquet.compression-codec", "gzip").commit()
    house.spark.sql(f"ALTER TABLE tidegate.{house.app}.t WRITE LOCALLY ORDERED BY id DESC")
    first = house.live_files()
    house.publish(house.frame((D22, 1, "b"), (D22, 9, "b")), ref, D22)
    (file,) = house.live_files() - first
    assert pq.ParquetFile(file).metadata.row_group(0).column(0).compression == "GZIP"
    assert pq.read_table(file)["id"].to_pylist() == [9, 1]


@pytest.mark.parametrize("write", only(["append", "overwrite_partitions", "merge"], "merge"))
def test_partitions_keep_their_column_wherever_it_is_in_the_table(house: House, write: WriteMode) -> None:
    """A dropped column shifts those behind it: a new table with the same columns numbers them otherwise."""
    ref = house.ref(write, DAILY, "t", *(["id"] if write == "merge" else []))
    columns = "note string, id int, day string"
    house.publish(house.frame(("x", 1, D22), columns=columns), ref, D22)
    house.table().updateSchema().deleteColumn("note").commit()
    house.publish(house.frame((2, D22), columns="id int, day string"), ref, D22)
    assert house.rows(ref) == ([(2, D22)] if write == "overwrite_partitions" else [(1, D22), (2, D22)])


def test_a_table_that_was_partitioned_later_is_published_into(house: House) -> None:
    ref = house.ref("append")
    house.spark.sql(f"CREATE NAMESPACE tidegate.{house.app}")
    house.spark.sql(f"CREATE TABLE tidegate.{house.app}.t ({ROWS})")
    house.spark.sql(f"ALTER TABLE tidegate.{house.app}.t ADD PARTITION FIELD day")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    house.publish(house.frame((D23, 2, "b")), ref, D23)
    assert house.rows(ref) == [(D22, 1, "a"), (D23, 2, "b")]
