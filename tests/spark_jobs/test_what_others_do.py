"""What others may do to a table, and what happens: the rows of the table in docs/exactly-once.md.

Each function is one row, and runs for Parquet or Iceberg or both: Iceberg in a `hadoop` catalog, a REST
catalog, a Hive metastore, and its JDBC catalog on H2 where this machine has that driver (the Derby database
that Spark brings along does not suit it). `test_what_others_do_page.py` compares the page.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.iceberg.house import D22, D23
from tests.spark_jobs.iceberg.other_catalogs import JDBC, other_catalog
from tests.spark_jobs.others_catalogs import Catalogs
from tests.spark_jobs.others_catalogs import catalogs as catalogs
from tests.spark_jobs.others_table import Row, Table
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.errors import CommitFailed, StoreBehind
from tidegate.spark_jobs.iceberg.catalog.options import with_defaults

pytestmark = pytest.mark.spark

ICEBERG = ("hadoop", "rest", "hive", *JDBC)
ROWS: dict[str, dict[str, Row]] = {"parquet": {}, "iceberg": {}}


def row(*formats: str) -> Any:
    """Make a function a row of the table, for these formats."""

    def add(function: Row) -> Row:
        for format in formats:
            ROWS[format][function.__name__] = function
        return function

    return add


@row("iceberg")
def insert(table: Table) -> None:
    """Rows that others add beside an append stay, as do ours."""
    table.put(2)
    table.sql(f"INSERT INTO {{T}} VALUES (7, 'theirs', '{D22}')")
    assert table.recover() == ("c2",)
    assert table.rows() == [1, 2, 7]


@row("parquet")
def insert_a_file(table: Table) -> None:
    """A file that others put beside a table's own folders belongs to no version; fsck finds one inside."""
    (source,) = table.files()
    shutil.copy(source, table.folder / "theirs.parquet")
    table.run(2)
    assert table.rows() == [1, 2]
    assert table.findings() == []
    shutil.copy(source, source.with_name("theirs.parquet"))
    (found,) = table.findings()
    assert "where others have put files, which are read: theirs.parquet" in found.what


@row("iceberg")
def update_beside_an_append(table: Table) -> None:
    table.put(2)
    table.sql("UPDATE {T} SET value = 'theirs' WHERE id = 1")
    assert table.recover() == ("c2",)
    assert (table.rows(), table.values()) == ([1, 2], ["ours", "theirs"])


@row("iceberg")
def delete_beside_an_append(table: Table) -> None:
    table.put(2)
    table.sql("DELETE FROM {T} WHERE id = 1")
    assert table.recover() == ("c2",)
    assert table.rows() == [2]


@row("iceberg")
def insert_into_what_a_run_replaces(table: Table) -> None:
    conflicts(table, f"INSERT INTO {{T}} VALUES (7, 'theirs', '{D22}')", [1, 7])


@row("iceberg")
def update_what_a_run_replaces(table: Table) -> None:
    conflicts(table, "UPDATE {T} SET id = 7 WHERE id = 1", [7])


@row("iceberg")
def delete_what_a_run_replaces(table: Table) -> None:
    conflicts(table, "DELETE FROM {T} WHERE id = 1", [])


def conflicts(table: Table, statement: str, theirs: list[int]) -> None:
    """What others did remains, and the next attempt of the run replaces what it has seen."""
    table.put(2, "overwrite_partitions")
    table.sql(statement)
    assert table.recover() == ()
    assert (table.store.was_abandoned("c2"), table.rows()) == (True, theirs)
    table.run(2, "overwrite_partitions")
    assert table.rows() == [2]


@row("iceberg")
def write_other_partitions(table: Table) -> None:
    table.put(2, "overwrite_partitions")
    table.sql(f"INSERT INTO {{T}} VALUES (7, 'theirs', '{D23}')")
    table.sql("UPDATE {T} SET id = 8 WHERE id = 7")
    assert table.recover() == ("c2",)
    assert table.rows() == [2, 8]


@row("iceberg")
def rollback_before_the_watermark(table: Table) -> None:
    before = table.snapshot()
    table.swap(2)
    after = table.snapshot()
    table.call("rollback_to_snapshot", f"snapshot_id => {before}")
    table.stops("rolled back|not an ancestor|is gone")
    table.call("set_current_snapshot", f"snapshot_id => {after}")
    assert table.recover() == ("c2",)
    assert table.rows() == [1, 2]


@row("iceberg")
def rollback_after_the_last_step(table: Table) -> None:
    before = table.snapshot()
    table.run(2)
    assert table.findings() == []
    table.call("rollback_to_snapshot", f"snapshot_id => {before}")
    assert [one.kind for one in table.findings()] == ["rollback"]


@row("parquet")
def rollback_of_a_version(table: Table) -> None:
    """A folder of versions that was restored from a backup lacks the newest ones."""
    table.run(2)
    table.put(3)
    newest = sorted((table.folder / "_versions").glob("*.json"))[-1]
    newest.unlink()
    table.stops("is at version 1, but was at version 2 when the commit began")


@row("parquet", "iceberg")
def drop(table: Table) -> None:
    table.put(2)
    table.drop()
    table.stops("does not exist|but was at version 1|was changed")
    assert table.store.abandon("c2", "dropped", table.now())
    table.run(3)
    assert table.rows() == [3]


@row("parquet", "iceberg")
def rename(table: Table) -> None:
    """Under another name it does not exist; renamed back, it is what it was."""
    table.put(2)
    rename_back = table.rename()
    table.stops("does not exist|but was at version 1|was changed")
    rename_back()
    assert table.recover() == ("c2",)
    assert table.rows() == [1, 2]


@row("iceberg")
def compact(table: Table) -> None:
    table.swap(2)
    compacted(table)
    assert table.recover() == ("c2",)
    table.put(3)
    compacted(table)
    assert table.recover() == ("c3",)
    assert table.rows() == [1, 2, 3]


def compacted(table: Table) -> None:
    table.call("rewrite_data_files", "options => map('rewrite-all', 'true')")
    table.call("rewrite_manifests")


@row("iceberg")
def expire(table: Table) -> None:
    table.swap(2)
    expired(table)
    assert table.recover() == ("c2",)
    table.put(3)
    expired(table)
    assert table.recover() == ("c3",)
    assert table.rows() == [1, 2, 3]
    assert table.findings() == []


def expired(table: Table) -> None:
    table.call("expire_snapshots", "retain_last => 1, older_than => TIMESTAMP '2999-01-01 00:00:00'")


@row("iceberg")
def branch(table: Table) -> None:
    """Others work on a branch; main is ours, until it is set back to a branch, which is a rollback."""
    table.sql("ALTER TABLE {T} CREATE BRANCH theirs")
    table.spark.sql(f"INSERT INTO tidegate.{table.app}.t.branch_theirs VALUES (7, 'theirs', '{D22}')")
    table.put(2)
    assert table.recover() == ("c2",)
    assert table.rows() == [1, 2]
    table.swap(3)
    table.call("set_current_snapshot", "ref => 'theirs'")
    table.stops("rolled back|not an ancestor|is gone")


@row("iceberg")
def add_a_column(table: Table) -> None:
    table.put(2)
    table.sql("ALTER TABLE {T} ADD COLUMN more string")
    assert table.recover() == ("c2",)
    assert (table.rows(), table.values()) == ([1, 2], ["ours", "ours"])


@row("iceberg")
def drop_a_column(table: Table) -> None:
    """The publish adds it again; older rows have no values in it."""
    table.put(2)
    table.sql("ALTER TABLE {T} DROP COLUMN value")
    assert table.recover() == ("c2",)
    assert table.words("value") == [(1, None), (2, "ours")]


@row("iceberg")
def drop_and_add_a_column(table: Table) -> None:
    table.put(2)
    table.sql("ALTER TABLE {T} DROP COLUMN value", "ALTER TABLE {T} ADD COLUMN value string")
    assert table.recover() == ("c2",)
    assert table.words("value") == [(1, None), (2, "ours")]


@row("iceberg")
def change_the_partitions(table: Table) -> None:
    """Not a row is published into other partitions; with the dataset's partitions it goes on."""
    table.put(2)
    table.sql("ALTER TABLE {T} ADD PARTITION FIELD id")
    with pytest.raises(CommitFailed, match=r"is partitioned by identity\(day\), identity\(id\)"):
        table.recover()
    assert table.rows() == [1]
    table.sql("ALTER TABLE {T} DROP PARTITION FIELD id")
    assert table.recover() == ("c2",)
    assert table.rows() == [1, 2]


@row("iceberg")
def rename_a_column(table: Table) -> None:
    table.put(2)
    table.sql("ALTER TABLE {T} RENAME COLUMN value TO word")
    assert table.recover() == ("c2",)
    assert table.words("word") == [(1, "ours"), (2, "ours")]


@row("parquet", "iceberg")
def lose_a_staged_file(table: Table) -> None:
    table.put(2)
    (staged,) = table.staged()
    away = Path(f"{table.warehouse.project}/away.parquet")
    shutil.move(staged, away)
    table.stops("do not exist|files differ")
    assert table.rows() == [1]
    shutil.move(away, staged)
    assert table.recover() == ("c2",)
    assert table.rows() == [1, 2]


@row("parquet", "iceberg")
def lose_a_file_of_the_newest_version(table: Table) -> None:
    table.run(2)
    assert table.findings() == []
    file = table.files()[0]
    file.unlink()
    (found,) = table.findings()
    assert found.kind == "table" and D22 in found.where and "not exist" in found.what


@row("parquet", "iceberg")
def restore_an_older_store(table: Table) -> None:
    older = MemoryCommitStepStore()
    with pytest.raises(StoreBehind, match="the store is older than the table"):
        table.run(2, store=older)
    assert table.rows() == [1]


@row("parquet", "iceberg")
def abandon_a_commit_whose_driver_sleeps(table: Table) -> None:
    table.put(2)
    step = table.step(2)
    step.refuse(table.context)
    step.execute(table.context)
    assert table.rows() == [1]
    assert table.recover() == ()
    assert (table.store.was_abandoned("c2"), table.rows()) == (True, [1])


OTHERS = [(name, catalog) for name in ROWS["iceberg"] for catalog in ICEBERG[1:]]
AGAIN = (
    *("insert_into_what_a_run_replaces", "update_what_a_run_replaces"),  # test_foreign_writers.py
    *("delete_what_a_run_replaces", "write_other_partitions"),
    *("compact", "expire"),  # iceberg/test_evidence.py
    *("drop_and_add_a_column", "rollback_before_the_watermark"),  # iceberg/test_faults.py
    *("lose_a_staged_file", "abandon_a_commit_whose_driver_sleeps"),
)
"""Rows of which other tests have more."""

CASES = [
    *(
        pytest.param(name, ICEBERG[0], marks=[pytest.mark.soak] if name in AGAIN else [])
        for name in ROWS["iceberg"]
    ),
    *(pytest.param(*case, marks=[pytest.mark.endurance, pytest.mark.soak]) for case in OTHERS),
]
"""Every row in the first catalog, but those that others have; the rest, and the other catalogs, in a soak.

What is different in another catalog is how a commit is swapped in: iceberg/test_catalogs.py.
"""


@pytest.mark.parametrize("name", ROWS["parquet"])
def test_parquet(name: str, spark: SparkSession, tmp_path: Path) -> None:
    warehouse = Warehouse(path=tmp_path / "warehouse", project=tmp_path)
    table = Table(spark=spark, warehouse=warehouse, format="parquet", catalog="")
    table.run(1)
    ROWS["parquet"][name](table)


@pytest.mark.parametrize(("name", "catalog"), CASES)
def test_iceberg(name: str, catalog: str, spark: SparkSession, tmp_path: Path, catalogs: Catalogs) -> None:
    options, folder = catalogs(catalog)
    warehouse = Warehouse(path=tmp_path / "warehouse", project=tmp_path)
    with other_catalog(spark, with_defaults(options, folder)) as session:
        table = Table(spark=session, warehouse=warehouse, format="iceberg", catalog=catalog)
        table.run(1)
        ROWS["iceberg"][name](table)
