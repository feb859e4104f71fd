"""Compaction beside writers of the same table: no commit is lost, and cold partitions are compacted."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import pytest
from pyspark.sql import SparkSession

from tests.effort import much
from tests.spark_jobs.iceberg.rest_catalog import RestCatalog
from tests.spark_jobs.maintenance.yard import EXPIRE, MANIFESTS, ORPHANS, REWRITE, Later, Yard, activate
from tidegate.domain.maintenance.reported import Ended, Ending
from tidegate.spark_jobs.iceberg.catalog.failures import IcebergFailure, StaleTable
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

COLD, HOT = "2014-01-01", "2014-01-02"
COMMITS, COMMIT_SECONDS = much(5), 0.4
"""Of the writer, and from one to the next."""


@pytest.fixture
def yard(tmp_path: Path, spark: SparkSession) -> Yard:
    found = Yard(tmp_path, spark)
    found.make()
    for number in range(5):
        found.insert((COLD, number), (HOT, number))
    return found


def before_swaps(monkeypatch: pytest.MonkeyPatch, *works: Callable[[], object]) -> None:
    """Does one of the works each time that rewritten files are about to be committed."""
    left, swap = list(works), CatalogTable.swap

    def late(table: CatalogTable, transaction: object) -> None:
        if left:
            left.pop(0)()
        swap(table, transaction)

    monkeypatch.setattr(CatalogTable, "swap", late)


def test_each_commit_of_a_writer_lands(yard: Yard) -> None:
    """It commits about twice a second, and the table is compacted all that time."""

    def write() -> None:
        for number in range(COMMITS):
            due = monotonic() + COMMIT_SECONDS
            yard.insert((HOT, 100 + number))
            sleep(max(0.0, due - monotonic()))

    rows, writer, ends = yard.all_rows(), Thread(target=write), list[Ended]()
    writer.start()
    while writer.is_alive():
        ends.append(yard.run(REWRITE, min_input_files=2))
    writer.join()
    # Of the last commits, which may have been too many for the run beside them.
    ends.append(yard.run(REWRITE, min_input_files=2))
    assert {one.ending for one in ends} == {Ending.SUCCEEDED}
    assert sum(one.changed for one in ends) >= 2
    assert len(yard.files_by_day()[COLD]) == 1
    written = [(HOT, 100 + number, str(100 + number)) for number in range(COMMITS)]
    assert yard.all_rows() == sorted([*rows, *written])
    assert yard.operations().count("append") == 5 + COMMITS


def test_a_partition_that_is_replaced_meanwhile_is_left_and_the_others_are_compacted(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    before_swaps(monkeypatch, lambda: yard.sql(f"DELETE FROM T WHERE day = '{HOT}'"))
    rows = [row for row in yard.all_rows() if row[0] == COLD]
    ended = yard.run(REWRITE)
    assert (ended.ending, ended.results["groups_lost"]) == (Ending.SUCCEEDED, 1)
    assert (ended.results["files_rewritten"], ended.results["files_added"]) == (5, 1)
    assert yard.all_rows() == rows
    # What was written for the other partition is removed: all else belongs to some snapshot.
    known = {row[0] for row in yard.spark.sql(f"SELECT file_path FROM {yard.full_name}.all_files").collect()}
    assert yard.data_files() == known


def test_rows_that_are_deleted_meanwhile_stay_deleted(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    yard.sql("ALTER TABLE T SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    before_swaps(monkeypatch, lambda: yard.sql(f"DELETE FROM T WHERE id = 3 AND day = '{HOT}'"))
    rows = [row for row in yard.all_rows() if row[:2] != (HOT, 3)]
    ended = yard.run(REWRITE)
    assert ended.ending is Ending.SUCCEEDED
    assert yard.all_rows() == rows
    assert [len(yard.files_by_day()[COLD]), ended.results["groups_lost"]] == [1, 1]


def test_a_race_that_is_lost_each_time_is_a_conflict(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    again = f"INSERT OVERWRITE T SELECT * FROM VALUES {', '.join(str((HOT, n, 'x')) for n in range(5))}"
    yard.sql("ALTER TABLE T SET TBLPROPERTIES ('write.target-file-size-bytes' = '1')")
    before_swaps(monkeypatch, *([lambda: yard.sql(again)] * 4))
    ended = yard.run(REWRITE, rewrite_all=True, target_file_size=100_000_000)
    assert (ended.ending, ended.changed, ended.results["commits"]) == (Ending.CONFLICT, False, 0)
    assert "4 times in a row" in ended.detail
    assert [row[2] for row in yard.all_rows()] == ["x"] * 5


@pytest.mark.parametrize("answer", [IcebergFailure("Read timed out"), StaleTable("409 Conflict")], ids=str)
def test_a_commit_that_has_happened_is_found_whatever_the_answer_says(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, answer: Exception
) -> None:
    swap, rows = CatalogTable.swap, yard.all_rows()

    def happens(table: CatalogTable, transaction: object) -> None:
        swap(table, transaction)
        raise answer

    monkeypatch.setattr(CatalogTable, "swap", happens)
    ended = yard.run(REWRITE)
    assert (ended.ending, ended.results["commits"], ended.after["files"]) == (Ending.SUCCEEDED, 1, 2)
    assert yard.all_rows() == rows


def test_a_commit_that_has_not_happened_is_a_failure(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = yard.all_rows()

    def fails(table: CatalogTable, transaction: object) -> None:
        raise IcebergFailure("Read timed out")

    monkeypatch.setattr(CatalogTable, "swap", fails)
    ended = yard.run(REWRITE)
    assert (ended.ending, ended.changed, yard.all_rows()) == (Ending.FAILED, False, rows)


def test_what_cannot_be_removed_after_a_lost_race_is_an_orphan(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def meanwhile() -> None:
        yard.sql(f"DELETE FROM T WHERE day = '{HOT}'")
        files = yard.spark.sql(f"SELECT file_path FROM {yard.full_name}.all_files").collect()
        (written,) = (Path(file) for file in yard.data_files() - {row[0] for row in files} if HOT in file)
        written.unlink()
        # A folder that is not empty is not deleted like a file.
        (written / "theirs").mkdir(parents=True)

    before_swaps(monkeypatch, meanwhile)
    ended = yard.run(REWRITE)
    assert (ended.ending, ended.results["groups_lost"], ended.results["commits"]) == (Ending.SUCCEEDED, 1, 1)
    assert "remove_orphan_files removes them later" in caplog.text


@pytest.fixture
def rest(spark: SparkSession, tmp_path: Path) -> Iterator[tuple[RestCatalog, Yard]]:
    """A table of another catalog than ours, which caches its tables, and the server of that catalog."""
    server, session = RestCatalog(spark, str(tmp_path)), spark.newSession()
    for option, value in (
        ("", "org.apache.iceberg.spark.SparkCatalog"),
        (".type", "rest"),
        (".uri", server.uri),
    ):
        session.conf.set(f"spark.sql.catalog.rest{option}", value)
    (tmp_path / "one").mkdir()
    yard = Yard(tmp_path, session)
    yard.full_name = "rest.one.t"
    yard.sql(
        "CREATE TABLE T (day string, id int, value string) USING iceberg "
        "TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')"
    )
    yield server, yard
    server.close()
    activate(spark)


def test_a_table_of_another_catalog(rest: tuple[RestCatalog, Yard], monkeypatch: pytest.MonkeyPatch) -> None:
    server, yard = rest
    for number in range(5):
        yard.insert((HOT, number), (HOT, 100 + number))
    rows = [row for row in yard.all_rows() if row[1] != 3]

    def meanwhile() -> None:
        # The cached table, for which the work was planned, is renewed by this commit.
        yard.sql("DELETE FROM T WHERE id = 3")
        # What a lost answer has committed is found in the table.
        server.lose_answers = 1

    before_swaps(monkeypatch, meanwhile)
    ended = yard.run(REWRITE)
    assert (ended.ending, ended.results["groups_lost"]) == (Ending.SUCCEEDED, 1)
    assert (ended.after["files"], ended.after["delete_files"]) == (1, 0)
    assert yard.all_rows() == rows
    assert yard.run(MANIFESTS).ending is Ending.SUCCEEDED
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, retain_last=1)
    assert (ended.ending, ended.after["snapshots"]) == (Ending.SUCCEEDED, 1)
    assert yard.run(ORPHANS).ending is Ending.SUCCEEDED
    assert yard.all_rows() == rows
