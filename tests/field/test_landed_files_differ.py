"""My supplier added a column to the file of today, and every run since has read the table without it.

Landed files are merged by name, as Iceberg merges columns: no column of any file is lost, and a type becomes
wider where no value changes. What cannot be merged or read is refused with the file and the column.
"""

from collections.abc import Callable
from datetime import UTC, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.effort import only
from tests.spark_jobs.staging import DAILY
from tidegate.domain.model import PartitionScheme, StaticDimension
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.increment import IncrementalRead
from tidegate.spark_jobs.datasets.landed import read_landed
from tidegate.spark_jobs.datasets.row_refusal import refused_rows
from tidegate.spark_jobs.errors import OutputError, SourceError
from tidegate.spark_jobs.parquet.new_rows import read_new_files
from tidegate.spark_jobs.programs.params import Params

pytestmark = pytest.mark.spark

WHOLE = DatasetRef(app="test", name="landed", path="landing")
DAYS = DatasetRef(app="test", name="landed", path="landing", scheme=DAILY)
AT = datetime(2026, 3, 9, 12, 30, 15, 123456)
Read = Callable[[DatasetRef], DataFrame]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of the dataset, in a project whose path has the characters of patterns."""
    return tmp_path / "data [1] {a,b} *?" / "landing"


@pytest.fixture(params=only(["whole", "new"], "new"))
def read(root: Path, spark: SparkSession, request: pytest.FixtureRequest) -> Read:
    """Reads all that is landed as what is new; in a soak also at once."""
    house = Warehouse(path=root.parent / "warehouse", project=root.parent)

    def rows(ref: DatasetRef) -> DataFrame:
        if request.param == "new":
            asked = IncrementalRead(consumer="test/p", ref=ref, warehouse=house, params=Params())
            found = read_new_files(spark, asked).frame
        else:
            found = read_landed(spark, ref, house, lambda _: True)
        assert found is not None
        return found

    return rows


def land(root: Path, name: str, **columns: Any) -> Path:
    """Land a file; a column is given as values, or as pyarrow's array."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), root / name)
    return root / name


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in frame.collect()), key=str)


def test_columns_are_merged_by_name_and_become_wider(root: Path, read: Read) -> None:
    land(
        root, "a.parquet",
        id=pa.array([1], pa.int32()),
        price=pa.array([1.5], pa.float32()),
        cost=pa.array([Decimal("1.25")], pa.decimal128(5, 2)),
        tag=pa.array([None], pa.null()),
        one=pa.array([{"x": 1}], pa.struct([("x", pa.int32())])),
    )  # fmt: skip
    land(
        root, "b.parquet",
        added=pa.array(["new"]),
        ID=pa.array([2**40], pa.int64()),
        price=pa.array([2.5], pa.float64()),
        cost=pa.array([Decimal("123456.25")], pa.decimal128(9, 2)),
        tag=pa.array(["t"]),
        one=pa.array([{"x": 2**40, "y": "y"}], pa.struct([("x", pa.int64()), ("y", pa.string())])),
    )  # fmt: skip
    land(root, "below/c.parquet", id=pa.array([3], pa.int32()))
    frame = read(WHOLE)
    assert dict(frame.dtypes) == {
        "id": "bigint",
        "price": "double",
        "cost": "decimal(9,2)",
        "tag": "string",
        "one": "struct<x:bigint,y:string>",
        "added": "string",
    }
    assert rows_of(frame.select("id", "price", "cost", "tag", "one.x", "one.y", "added")) == [
        (1, 1.5, Decimal("1.25"), None, 1, None, None),
        (2**40, 2.5, Decimal("123456.25"), "t", 2**40, "y", "new"),
        (3, None, None, None, None, None, None),
    ]


def test_days_of_a_longer_period_are_merged_too_however_their_folders_are_spelled(
    root: Path, read: Read
) -> None:
    ref = DatasetRef(
        app="test", name="landed", path="landing",
        scheme=PartitionScheme(time=DAILY.time, static=StaticDimension(name="region", keys=("n", "s"))),
    )  # fmt: skip
    land(root, "day=2026-03-09/region=n/a.parquet", id=[1])
    land(root, "REGION=s/Day=2026-03-09/a.parquet", id=[2], day=[7], late=["x"])
    assert rows_of(read(ref).select("id", "day", "region", "late")) == [
        (1, "2026-03-09", "n", None),
        (2, "2026-03-09", "s", "x"),
    ]


def test_nanoseconds_are_microseconds_where_nothing_is_lost(root: Path, read: Read) -> None:
    land(
        root,
        "a.parquet",
        at=pa.array([AT, None], pa.timestamp("ns")),
        sure=pa.array([AT, None], pa.timestamp("ns", "UTC")),
    )
    land(
        root,
        "b.parquet",
        at=pa.array([AT], pa.timestamp("us")),
        sure=pa.array([AT], pa.timestamp("us", "UTC")),
    )
    frame = read(WHOLE)
    assert dict(frame.dtypes) == {"at": "timestamp_ntz", "sure": "timestamp"}
    texts = frame.selectExpr("cast(at as string)", "cast(sure as string)")
    assert rows_of(texts) == [("2026-03-09 12:30:15.123456",) * 2] * 2 + [(None, None)]
    nanos = int(AT.replace(tzinfo=UTC).timestamp()) * 10**9 + 1
    file = land(root, "c.parquet", at=pa.array([nanos], pa.int64()).cast(pa.timestamp("ns")))
    with pytest.raises(OutputError) as lost, refused_rows("copy"):
        read(WHOLE).collect()
    assert (
        f"copy: the column at of {file}, or of a file like it, has the nanoseconds {nanos}"
        in lost.value.message
    )
    assert "write the column in microseconds" in lost.value.hint


@pytest.mark.parametrize(
    ("one", "other", "types"),
    [
        (pa.array([1]), pa.array(["1"]), "bigint is long in {a}, and string in {b}"),
        (pa.array([{"x": 1}]), pa.array([{"x": "1"}]), "bigint.x is long in {a}, and string in {b}"),
        (pa.array([1.5]), pa.array([1]), "bigint is double in {a}, and long in {b}"),
    ],
)
def test_incompatible_types_are_refused_with_both_files(
    root: Path, read: Read, one: pa.Array, other: pa.Array, types: str
) -> None:
    land(root, "0.parquet", other=[1])
    a, b = land(root, "a.parquet", bigint=one), land(root, "b.parquet", bigint=other)
    with pytest.raises(SourceError) as refused:
        read(WHOLE)
    assert f"test/landed: the column {types.format(a=a, b=b)}" in refused.value.message
    assert "one type in all files" in refused.value.hint


def write_text(file: Path) -> None:
    file.write_text("id,name\n1,a\n")


def cut(file: Path) -> None:
    content = land(file.parent, file.name, id=list(range(100))).read_bytes()
    file.write_bytes(content[: len(content) // 2])


def without_columns(file: Path) -> None:
    pq.write_table(pa.table({}), file)


def time_of_day(file: Path) -> None:
    pq.write_table(pa.table({"id": [1], "opens": pa.array([time(9)], pa.time64("us"))}), file)


@pytest.mark.parametrize(
    ("name", "write", "shown", "hint"),
    [
        ("b.csv", write_text, "b.csv cannot be read as Parquet", "write it as Parquet"),
        ("b.parquet", cut, "b.parquet cannot be read as Parquet, it was cut", "land it again"),
        ("b.parquet", Path.touch, "b.parquet cannot be read as Parquet", "land it again"),
        ("b.parquet", without_columns, "b.parquet has no columns", "with its columns"),
        ("b.parquet", time_of_day, "the column opens of ", "write times of a day as text"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_file_and_what_to_write(
    root: Path, read: Read, name: str, write: Callable[[Path], object], shown: str, hint: str
) -> None:
    land(root, "a.parquet", id=[1])
    write(root / name)
    with pytest.raises(SourceError) as refused:
        read(WHOLE)
    assert shown in refused.value.message
    assert str(root / name) in refused.value.message
    assert hint in refused.value.hint
