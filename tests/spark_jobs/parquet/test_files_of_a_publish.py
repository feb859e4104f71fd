"""Which data files a publish of many partitions has, what it costs to count their rows, and what it keeps."""

from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark_jobs.jvm_calls import counted
from tests.spark_jobs.publishing import begin
from tidegate.domain.model import PartitionScheme, TimeDimension
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.partition_columns import LEAST_TASK
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.parquet.footer import read_footer
from tidegate.spark_jobs.parquet.staging import rows_by_folder
from tidegate.spark_jobs.publication.table import Publication

pytestmark = pytest.mark.spark

DAILY = DatasetRef(
    app="test",
    name="daily",
    scheme=PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01")),
)
TASKS = 2


class Table:
    """One table, and what was published into it last."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.spark = spark
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.store = SqlCommitStepStore(open_sql_store(f"sqlite:///{folder / 'store.db'}").engine)
        self.commits = 0

    def days(self, number: int) -> tuple[str, ...]:
        return tuple(f"2013-{1 + n // 28:02}-{1 + n % 28:02}" for n in range(number))

    def rows(self, days: int) -> DataFrame:
        """Return rows of which each of two tasks has some of each day."""
        day = "concat('2013-', lpad(1 + d div 28, 2, '0'), '-', lpad(1 + d % 28, 2, '0'))"
        made = self.spark.range(0, 4 * days, 1, TASKS).selectExpr(f"id % {days} AS d", "id AS value")
        return made.selectExpr(f"{day} AS day", "value")

    def publication(self) -> Publication:
        self.commits += 1
        commit = f"c{self.commits}"
        token = begin(self.store, commit, [DAILY.id])
        return Publication(self.warehouse, self.store, commit=commit, token=token, spark=lambda: self.spark)

    def files(self, rows: DataFrame, days: int) -> list[list[int]]:
        """Publish, and return the values of each data file."""
        publication = self.publication()
        publication.stage(rows, DAILY, self.days(days))
        published = publication.publish()
        assert sum(part.rows for part in published) == rows.count()
        root = Path(DAILY.root(self.warehouse))
        found = [pq.read_table(file)["value"].to_pylist() for file in sorted((root / "current").iterdir())]
        assert sum(part.files for part in published) == len(found)
        return found


@pytest.fixture
def table(tmp_path: Path, spark: SparkSession) -> Table:
    return Table(tmp_path, spark)


def test_each_of_many_partitions_has_one_file_however_many_tasks_have_its_rows(table: Table) -> None:
    assert len(table.files(table.rows(60), 60)) == 60


@pytest.mark.parametrize("minimum", [None, "1m"])
def test_few_rows_of_several_partitions_are_written_by_all_tasks(table: Table, minimum: str | None) -> None:
    """Adaptive execution gives a task at least a megabyte, unless a user has set another size."""
    conf = table.spark.conf
    # The session of the tests has one core.
    conf.set("spark.sql.adaptive.coalescePartitions.minPartitionNum", str(TASKS))
    # A driver that another test has killed within a write has left it in the JVM.
    conf.unset(LEAST_TASK)
    if minimum:
        conf.set(LEAST_TASK, minimum)
    try:
        table.files(table.rows(20), 20)
        assert conf.get(LEAST_TASK, None) == minimum
    finally:
        conf.unset("spark.sql.adaptive.coalescePartitions.minPartitionNum")
        conf.unset(LEAST_TASK)
    data = Path(DAILY.root(table.warehouse)) / "_data"
    tasks = {file.name.split("-")[1] for file in data.rglob("part-*")}
    assert len(tasks) == 1 if minimum else len(tasks) >= TASKS


def test_rows_that_the_program_has_sorted_stay_sorted_in_their_files(table: Table) -> None:
    table.rows(3).createOrReplaceTempView("unsorted")
    try:
        query = "WITH kept AS (SELECT * FROM unsorted) SELECT * FROM kept ORDER BY value DESC"
        found = table.files(table.spark.sql(query), 3)
    finally:
        table.spark.catalog.dropTempView("unsorted")
    assert all(values == sorted(values, reverse=True) for values in found)
    assert sorted(value for values in found for value in values) == list(range(12))


def test_rows_that_the_program_has_distributed_stay_in_their_tasks(table: Table) -> None:
    rows = table.rows(3).repartition(TASKS, "value").where("value >= 0")
    tasks = rows.selectExpr("spark_partition_id() AS task", "value").collect()
    of_task = {row["value"]: row["task"] for row in tasks}

    found = table.files(rows, 3)

    assert all(len({of_task[value] for value in values}) == 1 for values in found)
    assert len(found) > 3, "the rows of a day are in two tasks"


def test_staging_calls_the_jvm_no_more_often_for_more_partitions(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table.files(table.rows(2), 2)
    totals: list[int] = []
    for days in (3, 30, 60):
        publication, rows = table.publication(), table.rows(days)
        with counted(monkeypatch) as calls:
            publication.stage(rows, DAILY, table.days(days))
        publication.publish()
        totals.append(calls.total())
        assert calls.total() <= 75, calls.most_common(20)
    assert max(totals) - totals[0] <= 2, totals


def test_a_merge_calls_the_jvm_no_more_often_for_more_partitions(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref, totals = msgspec.structs.replace(DAILY, write="merge", merge_keys=("value",)), list[int]()
    for commit, days in zip("abcd", (12, 3, 4, 12), strict=True):
        keys, token = table.days(days), begin(table.store, commit, [ref.id])
        publication = Publication(table.warehouse, table.store, commit=commit, token=token)
        with counted(monkeypatch) as calls:
            publication.stage(table.rows(days).where(f"value < {2 * days}"), ref, keys)
            assert [part.rows for part in publication.publish()] == [2] * days
        totals.append(calls.total())
    assert totals[2] == totals[3], totals


def test_one_partition_has_no_file_of_a_task_without_rows(table: Table) -> None:
    rows = table.rows(1).where("value >= 2")
    assert rows.rdd.glom().map(len).collect() == [0, 2]
    assert table.files(rows, 1) == [[2, 3]]


@pytest.mark.parametrize("day", ["'2013-01-02'", "NULL"])
def test_a_row_outside_the_only_partition_is_refused(table: Table, day: str) -> None:
    rows = table.rows(1).selectExpr(f"CASE WHEN value = 3 THEN {day} ELSE day END AS day", "value")
    with pytest.raises(OutputError, match=r"2013-01-02 \(1 rows\)|\(null\) \(1 rows\)"):
        table.publication().stage(rows, DAILY, table.days(1))


def test_a_footer_proves_that_a_column_has_one_text(tmp_path: Path) -> None:
    file = tmp_path / "part.parquet"
    day, code, none = ["2013-12-22"] * 7, ["é"] * 6 + ["e"], [None] * 7
    nested = [{"list": [1.5], "map": True}] * 7
    columns = {"day": day, "code": code, "none": pa.array(none, pa.string()), "nested": nested}
    pq.write_table(pa.table(columns), file, row_group_size=2)
    found = read_footer(file)

    assert found is not None and found.rows == 7
    assert found.has_only([("day", "2013-12-22")])
    for wrong in (("day", "2013-12-23"), ("code", "é"), ("none", ""), ("other", "2013-12-22")):
        assert not found.has_only([("day", "2013-12-22"), wrong]), wrong


def test_a_footer_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    file = tmp_path / "part.parquet"
    pq.write_table(pa.table({"day": ["2013-12-22"]}), file)
    whole = file.read_bytes()
    length = int.from_bytes(whole[-8:-4], "little")
    for damaged in (
        b"",
        whole[:-1],
        whole[:-4] + b"PARE",
        whole[-8:],
        b"\xff" * length + whole[-8:],
        b"\x15" * length + whole[-8:],
    ):
        file.write_bytes(damaged)
        assert read_footer(file) is None, damaged


def test_rows_are_counted_in_every_block_of_every_file(tmp_path: Path, spark: SparkSession) -> None:
    folder = tmp_path / "a {strange} [name]*"
    for name, sizes in {"0": (5, 1), "kday%3D1": (2,), "empty": (0,), "none": ()}.items():
        place = folder / f"__tidegate_key={name}"
        place.mkdir(parents=True)
        (place / "_commit.json").write_text("{}")
        (place / ".part-0.parquet.crc").write_text("")
        for number, size in enumerate(sizes):
            rows = pa.table({"BlockMetaData{7, ": list(range(size))})
            pq.write_table(rows, place / f"part-{number}.parquet", row_group_size=2)
    (folder / "_SUCCESS").write_text("")

    assert rows_by_folder(spark, str(folder)) == {"0": 6, "kday%3D1": 2, "empty": 0}
