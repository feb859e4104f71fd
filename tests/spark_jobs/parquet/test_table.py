"""Reading and writing tables with Spark: keys, empty partitions, wrong rows, odd names."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType, StringType, StructType

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.frames import frame_of
from tests.spark_jobs.staging import begin
from tidegate.domain.model import PartitionScheme, StaticDimension, TimeDimension
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.parquet import staging as parquet_staging
from tidegate.spark_jobs.publication.table import Publication, read

pytestmark = pytest.mark.spark

DAY = TimeDimension(name="day", cycle="day", start="2013-01-01", timezone="America/New_York")
DAILY = DatasetRef(app="test", name="daily", scheme=PartitionScheme(time=DAY))
TWO = DatasetRef(
    app="test",
    name="two",
    scheme=PartitionScheme(time=DAY, static=StaticDimension(name="code", keys=("007", "a b/c%=é", "it's"))),
)
HOURLY = DatasetRef(
    app="test",
    name="hourly",
    scheme=PartitionScheme(
        time=TimeDimension(name="hour", cycle="hour", start="2013-01-01-00:00", timezone="America/New_York")
    ),
)
WHOLE = DatasetRef(app="test", name="whole")
ROWS = "day string, value int"


class Tables:
    """Publishes and reads in one warehouse."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.spark = spark
        self.warehouse = Warehouse(path=folder / "ware house", project=folder)
        self.store = MemoryCommitStepStore()
        self._commits = 0

    def publish(self, frame: DataFrame, ref: DatasetRef, *keys: str) -> tuple[PublishedPartition, ...]:
        self._commits += 1
        commit = f"c{self._commits}"
        token = begin(self.store, commit, [ref.id])
        publication = Publication(self.warehouse, self.store, commit=commit, token=token)
        publication.stage(frame, ref, keys or ("",))
        return publication.publish()

    def read(self, ref: DatasetRef, *keys: str) -> list[Row]:
        frame = read(self.spark, ref, self.warehouse, keys or None)
        assert frame is not None
        return sorted(frame.collect())

    def frame(self, rows: Sequence[tuple[object, ...]], columns: str = ROWS) -> DataFrame:
        return frame_of(self.spark, rows, columns)


@pytest.fixture
def tables(tmp_path: Path, spark: SparkSession) -> Tables:
    return Tables(tmp_path, spark)


def test_each_partition_is_counted_and_replaced_by_itself(tables: Tables) -> None:
    published = tables.publish(
        tables.frame([("2013-12-22", 1), ("2013-12-22", 2), ("2013-12-23", 3)]),
        DAILY,
        "2013-12-22",
        "2013-12-23",
    )
    assert [(one.key, one.rows) for one in published] == [("2013-12-22", 2), ("2013-12-23", 1)]
    assert all(one.bytes > 0 and one.files > 0 for one in published)
    before = read(tables.spark, DAILY, tables.warehouse, ["2013-12-23"])

    tables.publish(tables.frame([("2013-12-23", 20)]), DAILY, "2013-12-23")

    assert tables.read(DAILY) == [("2013-12-22", 1), ("2013-12-22", 2), ("2013-12-23", 20)]
    # Reading is one state even while it is replaced.
    assert before is not None and before.collect() == [("2013-12-23", 3)]


def test_no_rows_clear_the_partition_and_keep_the_columns(tables: Tables) -> None:
    tables.publish(tables.frame([("2013-12-22", 1)]), DAILY, "2013-12-22")
    (cleared,) = tables.publish(tables.frame([]), DAILY, "2013-12-22")
    assert (cleared.rows, cleared.bytes, cleared.files) == (0, 0, 0)
    assert tables.read(DAILY) == []
    assert read(tables.spark, DAILY, tables.warehouse).columns == ["day", "value"]


def test_a_table_without_partitions_is_replaced_whole(tables: Tables) -> None:
    assert [(p.key, p.rows) for p in tables.publish(tables.frame([(1,), (2,)], "v int"), WHOLE)] == [("", 2)]
    tables.publish(tables.frame([(3,)], "v int"), WHOLE)
    assert tables.read(WHOLE) == [(3,)]
    assert [p.rows for p in tables.publish(tables.frame([], "v int"), WHOLE)] == [0]
    assert tables.read(WHOLE) == []


def test_what_was_never_written_is_none(tables: Tables) -> None:
    assert read(tables.spark, DAILY, tables.warehouse) is None
    landed = DatasetRef(app="test", name="landed", scheme=DAILY.scheme, path="landing/none")
    assert read(tables.spark, landed, tables.warehouse) is None


def test_rows_outside_the_partitions_of_the_run_are_refused_by_name(tables: Tables) -> None:
    stray = tables.frame([("2013-12-22", 1), ("2013-12-24", 1), ("2013-12-24", 2), (None, 3)])
    with pytest.raises(
        OutputError, match=r"daily: .*\(null\) \(1 rows\), 2013-12-24 \(2 rows\); the run writes 2013-12-22"
    ):
        tables.publish(stray, DAILY, "2013-12-22")
    assert read(tables.spark, DAILY, tables.warehouse) is None


def test_many_partitions_are_told_apart_as_few_are(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_staging, "NUMBERED_KEYS", 1)
    rows = [("007", "2013-12-22", 1), ("a b/c%=é", "2013-12-22", 2), ("a b/c%=é", "2013-12-22", 3)]
    columns = "code string, day string, value int"
    keys = ("007|2013-12-22", "a b/c%=é|2013-12-22", "it's|2013-12-22")
    published = tables.publish(tables.frame(rows, columns), TWO, *keys)
    assert [(one.key, one.rows) for one in published] == list(zip(keys, (1, 2, 0), strict=True))
    assert tables.read(TWO) == rows
    with pytest.raises(OutputError, match=r"partitions of its run: a b/c%=é\|2013-12-22 \(2 rows\)"):
        tables.publish(tables.frame(rows, columns), TWO, keys[0], keys[2])


def test_a_single_partition_needs_no_column(tables: Tables) -> None:
    tables.publish(tables.frame([(1,)], "value int"), DAILY, "2013-12-22")
    assert tables.read(DAILY) == [Row(value=1, day="2013-12-22")]
    with pytest.raises(OutputError, match="no column day, and the run writes 2 partitions"):
        tables.publish(tables.frame([(1,)], "value int"), DAILY, "2013-12-22", "2013-12-23")


def test_keys_stay_strings_whatever_they_look_like(tables: Tables) -> None:
    keys = tuple(f"{code}|2013-12-22" for code in ("007", "a b/c%=é", "it's"))
    rows = [(key.split("|")[0], "2013-12-22", n) for n, key in enumerate(keys)]
    tables.publish(tables.frame(rows, "code string, day string, value int"), TWO, *keys)
    assert tables.read(TWO) == sorted(rows)
    assert tables.read(TWO, keys[1]) == [rows[1]]


def test_dates_and_instants_are_spelled_as_keys(tables: Tables) -> None:
    tables.publish(tables.frame([("2013-12-22", 1)], "day date, value int"), DAILY, "2013-12-22")
    assert tables.read(DAILY) == [("2013-12-22", 1)]

    instant = tables.frame([(1,)], "value int").withColumn("hour", sf.timestamp_seconds(sf.lit(1387735200)))
    tables.publish(instant, HOURLY, "2013-12-22-13:00")
    assert tables.read(HOURLY) == [Row(value=1, hour="2013-12-22-13:00")]


def test_the_second_pass_through_a_doubled_hour_has_a_key_of_its_own(tables: Tables) -> None:
    """In New York the hour from 1 to 2 comes twice on 2013-11-03: at 5 and at 6 o'clock UTC."""
    hours = tables.frame([(5,), (6,), (7,)], "utc int").selectExpr(
        "utc", "timestamp_seconds(1383436800 + utc * 3600) AS hour"
    )
    keys = ("2013-11-03-01:00", "2013-11-03-01:00-0500", "2013-11-03-02:00")
    tables.publish(hours, HOURLY, *keys)
    assert tables.read(HOURLY) == [(5, keys[0]), (6, keys[1]), (7, keys[2])]


def test_a_new_column_is_null_in_older_partitions(tables: Tables) -> None:
    tables.publish(tables.frame([("2013-12-22", 1)]), DAILY, "2013-12-22")
    tables.publish(tables.frame([("2013-12-23", 2, "x")], f"{ROWS}, note string"), DAILY, "2013-12-23")
    assert tables.read(DAILY) == [("2013-12-22", 1, None), ("2013-12-23", 2, "x")]


def _land(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"text": [text]}), folder / "part-0.parquet")


def test_landed_folders_are_read_as_they_are(tables: Tables, tmp_path: Path) -> None:
    ref = DatasetRef(app="test", name="landed", scheme=TWO.scheme, path="landing/x")
    for code, day in (("007", "2013-12-22"), ("it's", "2013-12-22"), ("007", "2013-12-23")):
        _land(tmp_path / "landing" / "x" / f"day={day}" / f"code={code}", f"{code} {day}")
    for stray in ("day=2013-12-32/code=007", "day=2013-12-22/code=unknown", "day=2012-12-22/code=007"):
        _land(tmp_path / "landing" / "x" / stray, "stray")
    half = tmp_path / "landing" / "x" / "day=2013-12-24" / "code=007"
    half.mkdir(parents=True)
    (half / ".being-landed.parquet").write_bytes(b"half a file")

    assert [row.text for row in tables.read(ref, "007|2013-12-22", "it's|2013-12-22")] == [
        "007 2013-12-22",
        "it's 2013-12-22",
    ]
    assert {(row.code, row.day) for row in tables.read(ref)} == {
        ("007", "2013-12-22"),
        ("it's", "2013-12-22"),
        ("007", "2013-12-23"),
    }
    # A partition that has not come has no rows, and the columns of the others.
    missing = read(tables.spark, ref, tables.warehouse, ["007|2013-12-24"])
    assert missing is not None and missing.count() == 0
    assert missing.columns == ["text", "day", "code"]


def test_a_missing_file_is_never_passed_over(tables: Tables) -> None:
    tables.publish(tables.frame([("2013-12-22", 1)]), DAILY, "2013-12-22")
    before = read(tables.spark, DAILY, tables.warehouse)
    (file,) = Path(DAILY.root(tables.warehouse), "_data").rglob("*.parquet")
    file.unlink()
    tables.spark.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    try:
        with pytest.raises(Exception, match=r"does not exist|FILE_NOT_EXIST"):
            before.collect()
    finally:
        tables.spark.conf.unset("spark.sql.files.ignoreMissingFiles")


def test_a_program_may_read_what_it_replaces(tables: Tables) -> None:
    tables.publish(tables.frame([("2013-12-22", 1)]), DAILY, "2013-12-22")
    before = read(tables.spark, DAILY, tables.warehouse)
    assert before is not None
    tables.publish(before.withColumn("value", sf.col("value") + 1), DAILY, "2013-12-22")
    assert tables.read(DAILY) == [("2013-12-22", 2)]


def test_times_are_stored_in_microseconds(tables: Tables) -> None:
    tables.publish(tables.frame([("2013-12-22T05:00:00.123456Z",)], "at timestamp"), WHOLE)
    (file,) = Path(WHOLE.root(tables.warehouse), "_data").rglob("*.parquet")
    assert str(pq.read_schema(file).field("at").type) == "timestamp[us, tz=UTC]"


def test_the_schema_type_is_kept_for_an_empty_read(tables: Tables) -> None:
    schema = StructType().add("day", StringType()).add("value", IntegerType())
    tables.publish(tables.spark.createDataFrame([], schema), DAILY, "2013-12-22")
    frame = read(tables.spark, DAILY, tables.warehouse)
    assert frame is not None and frame.schema == schema
