"""After I renamed nothing but the case of a column, the rows of three days were published as those of today.

The columns of an output fit those of its table, or the run is refused before anything is promised: names in
any case, names that belong to Spark or Iceberg, wider types, columns that must have a value, keys of merges.
"""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from tests.effort import only
from tests.spark_jobs.frames import frame_of
from tests.spark_jobs.publishing import FORMATS, Publisher, with_formats
from tests.spark_jobs.staging import DAILY
from tidegate.domain.model import PartitionScheme, StaticDimension
from tidegate.spark_jobs.datasets.column_names import RESERVED
from tidegate.spark_jobs.errors import CommitConflict, OutputError

pytestmark = pytest.mark.spark

D8, D9 = "2026-03-08", "2026-03-09"
WRITES = [(format, write) for format in FORMATS for write in ("append", "overwrite_partitions", "merge")]


def with_writes(*usual: tuple[str, str], never: str) -> pytest.MarkDecorator:
    """The formats of a test with a way to write each; in a soak it has all but one way."""
    cases = [case for case in WRITES if case[1] != never]
    return pytest.mark.parametrize(("format", "write"), only(cases, *usual))


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession) -> Publisher:
    return Publisher(tmp_path, spark)


def refused(house: Publisher, ref: Any, frame: Any, *keys: str) -> OutputError:
    """Publish what must be refused before anything is promised."""
    with pytest.raises(OutputError) as caught:
        house.publish(ref, frame, *keys)
    assert house.store.list_unfinished() == ()
    assert caught.value.hint
    return caught.value


@with_formats("parquet")
def test_a_partition_column_is_known_in_any_case(house: Publisher, format: str) -> None:
    ref = house.ref(format=format, scheme=DAILY)
    house.publish(ref, frame_of(house.spark, [(D8, 1), (D9, 2)], "DAY string, id int"), D8, D9)
    wrong = refused(house, ref, frame_of(house.spark, [(3, D8)], "id int, Day string"), D9)
    assert f"rows outside the partitions of its run: {D8} (1 rows)" in wrong.message
    house.publish(ref, frame_of(house.spark, [(4, D9)], "ID int, Day string"), D9)
    assert house.rows(ref) == [(D8, 1), (D9, 4)]


@with_formats("iceberg")
def test_reserved_names_are_refused_with_the_list(house: Publisher, format: str) -> None:
    ref = house.ref(format=format)
    for name in (*RESERVED, "_FILE", "__tidegate_key"):
        wrong = refused(house, ref, house.spark.range(1).withColumnRenamed("id", name))
        assert f"has the column {name}, whose name is reserved" in wrong.message
        assert ", ".join(RESERVED) in wrong.hint
    wrong = refused(house, ref, house.spark.sql("SELECT 1 a, named_struct('x', 1, 'X', 2) s"))
    assert "the columns s.x and s.X, which are one name" in wrong.message


@with_writes(("parquet", "merge"), ("iceberg", "append"), never="overwrite_partitions")
def test_types_become_wider(house: Publisher, format: str, write: str) -> None:
    keys = ("id",) if write == "merge" else ()
    ref = house.ref(format=format, write=write, merge_keys=keys)
    sql = house.spark.sql
    house.publish(ref, sql("SELECT 1 id, 1.25 cost, named_struct('x', 1) s, CAST(1.5 AS FLOAT) f"))
    house.publish(ref, sql("SELECT 2L id, 123456.25 cost, named_struct('x', 2L, 'y', 'y') s, 2.5D f"))
    # What is narrower than the table goes with it as well.
    house.publish(
        ref,
        sql(
            "SELECT 3 ID, 3.25 cost, named_struct('x', 3, 'y', CAST(null AS STRING)) s, CAST(3.5 AS FLOAT) f"
        ),
    )
    house.publish(ref, sql("SELECT 4L id, 4.25 cost, named_struct('x', 4L, 'y', 'z') s, 4.5D f"))
    assert [(row[0], float(row[1]), row[2], row[3]) for row in house.rows(ref)] == [
        (1, 1.25, {"x": 1, "y": None}, 1.5),
        (2, 123456.25, {"x": 2, "y": "y"}, 2.5),
        (3, 3.25, {"x": 3, "y": None}, 3.5),
        (4, 4.25, {"x": 4, "y": "z"}, 4.5),
    ]
    if write == "merge":
        house.publish(ref, sql("SELECT 1L id, 9.25 cost, named_struct('x', 9L, 'y', 'n') s, 9.5D f"))
        assert house.rows(ref)[0][0:3:2] == (1, {"x": 9, "y": "n"})
    assert "cast the columns to the types" in refused(house, ref, sql("SELECT 'x' id")).hint


@pytest.mark.iceberg
def test_what_must_have_a_value_stays_so(house: Publisher) -> None:
    ref = house.ref(format="iceberg", write="append")
    name = f"tidegate.{ref.app}.table"
    house.spark.sql(
        f"CREATE TABLE {name} (id INT NOT NULL, s STRUCT<x: INT NOT NULL>, note STRING) USING iceberg"
    )
    house.spark.sql(f"ALTER TABLE {name} SET IDENTIFIER FIELDS id")
    house.publish(ref, house.spark.sql("SELECT 1 id, named_struct('x', 1) s, 'n' note"))
    house.publish(ref, house.spark.sql("SELECT 2 ID, named_struct('x', 2) s, 7 more"))
    assert house.rows(ref) == [(1, {"x": 1}, "n", None), (2, {"x": 2}, None, 7)]
    fields = {field.name: field.nullable for field in house.spark.table(name).schema.fields}
    assert fields == {"id": False, "s": True, "note": True, "more": True}
    wrong = refused(house, ref, frame_of(house.spark, [(None, "n")], "id int, note string"))
    assert (
        wrong.message
        == "table: the column id is NOT NULL in the table, and a row of the output has no value in it"
    )
    assert "the output lacks it" in refused(house, ref, house.spark.sql("SELECT 'n' note")).message
    nested = frame_of(house.spark, [(3, {"x": None})], "id int, s struct<x: int>")
    assert "the column s.x is NOT NULL" in refused(house, ref, nested).message


@with_formats("parquet")
@pytest.mark.parametrize(
    ("first", "then", "shown"),
    [
        (
            "named_struct('x', 1)",
            "named_struct('x', 1, 'y', 2)",
            "the merge key k is struct<x:int> in the table",
        ),
        ("map('x', 1)", "", "the merge key k is map<string,int>, and maps cannot be compared"),
        ("array(map('x', 1))", "", "maps cannot be compared"),
    ],
)
def test_a_merge_that_cannot_be_computed_is_refused_before_it_is_promised(
    house: Publisher, format: str, first: str, then: str, shown: str
) -> None:
    ref = house.ref(format=format, write="merge", merge_keys=("k",))
    if then:
        house.publish(ref, house.spark.sql(f"SELECT {first} k, 1 v"))
    assert shown in refused(house, ref, house.spark.sql(f"SELECT {then or first} k, 2 v")).message


@with_formats("iceberg")
def test_a_type_that_another_run_has_given_meanwhile_is_a_conflict_and_blocks_nothing(
    house: Publisher, format: str
) -> None:
    ref = house.ref(format=format, write="append")
    house.publish(ref, house.spark.sql("SELECT 1 id"))
    late = house.staged(ref, house.spark.sql("SELECT 2 id, 'text' note"))
    house.publish(ref, house.spark.sql("SELECT 3 id, 7 note"))
    with pytest.raises(CommitConflict, match="another run has changed the columns"):
        late.publish()
    assert house.store.list_unfinished() == ()
    assert house.rows(ref) == [(1, None), (3, 7)]


@with_formats(*FORMATS)
@pytest.mark.parametrize("many", only([1, 40], 40))
def test_a_long_key_is_a_folder_of_its_own_or_refused(house: Publisher, format: str, many: int) -> None:
    long = ("k" * 260, "日本語の地域名" * 4)
    keys = tuple(sorted((*long, *(f"r{number}" for number in range(many)))))
    ref = house.ref(format=format, scheme=PartitionScheme(static=StaticDimension(name="region", keys=keys)))
    rows = frame_of(house.spark, [(key, number) for number, key in enumerate(keys)], "region string, id int")
    if format == "iceberg":
        assert "would be a folder whose name has 267 bytes" in refused(house, ref, rows, *keys).message
    else:
        published = house.publish(ref, rows, *keys)
        assert [part.files for part in published] == [1] * len(keys)
        house.publish(ref, rows.where(sf.col("region") == long[0]).withColumn("id", sf.lit(-1)), long[0])
        assert house.rows(ref) == sorted((key, -1 if key == long[0] else n) for n, key in enumerate(keys))
        wrong = refused(house, ref, rows, *keys[1:])
        assert "rows outside the partitions of its run" in wrong.message


@with_writes(("parquet", "overwrite_partitions"), ("iceberg", "merge"), never="append")
def test_many_partitions_are_written_as_one_file_each(house: Publisher, format: str, write: str) -> None:
    keys = tuple(f"r{number:02}" for number in range(40))
    ref = house.ref(
        format=format, write=write, merge_keys=("id",) if write == "merge" else (),
        scheme=PartitionScheme(static=StaticDimension(name="region", keys=keys)),
    )  # fmt: skip
    rows = house.spark.range(0, 400, numPartitions=5).select(
        sf.format_string("r%02d", sf.col("id") % 40).alias("region"), "id"
    )
    published = house.publish(ref, rows, *keys)
    assert {(part.files, part.rows) for part in published} == {(1, 10)}
