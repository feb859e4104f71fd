"""Compaction of real Iceberg tables: no row changes, what is left out stays, and what is done remains."""

import pytest

from tests.effort import every, pick
from tests.spark_jobs.maintenance.yard import MANIFESTS, REWRITE, Steered, Yard, killed_at
from tidegate.domain.maintenance.reported import Ending
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.maintenance import slicing
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

DAYS = ("2014-01-01", "2014-01-02", "2014-01-03")


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each partition is a slice of its own."""
    monkeypatch.setattr(slicing, "LEAST_SLICE_BYTES", 1)


def fill(yard: Yard, commits: int = 5, days: tuple[str, ...] = DAYS) -> None:
    for number in range(commits):
        yard.insert(*((day, number) for day in days))


def test_small_files_become_one_for_each_partition(yard: Yard) -> None:
    yard.make()
    fill(yard)
    rows = yard.all_rows()
    ended = yard.run(REWRITE)
    assert (ended.ending, ended.detail) == (Ending.SUCCEEDED, "")
    assert yard.all_rows() == rows
    assert {day: len(files) for day, files in yard.files_by_day().items()} == dict.fromkeys(DAYS, 1)
    assert yard.operations() == ["append"] * 5 + ["replace"]
    assert ended.changed
    assert ended.bytes == ended.before["total_size"]
    assert (ended.before["files"], ended.after["files"]) == (15, 3)
    assert ended.results == {
        "files_rewritten": 15,
        "files_added": 3,
        "bytes_added": ended.after["total_size"],
        "commits": 1,
    }

    again = yard.run(REWRITE)
    assert (again.ending, again.changed, again.bytes) == (Ending.SUCCEEDED, False, 0)
    assert yard.snapshots() == 6


def test_partitions_that_are_left_out_keep_their_files(yard: Yard) -> None:
    ref = yard.ref("append")
    for number in range(5):
        yard.publish(yard.frame(*((day, number, "a") for day in DAYS)), ref, *DAYS)
    before, rows = yard.files_by_day(), yard.all_rows()
    ended = yard.run(REWRITE, ref, excluded=DAYS[:2])
    after = yard.files_by_day()
    assert (ended.results["files_rewritten"], ended.results["files_added"]) == (5, 1)
    assert [before[day] == after[day] for day in DAYS] == [True, True, False]
    assert yard.all_rows() == rows

    assert not yard.run(REWRITE, ref, excluded=DAYS[:2]).changed
    assert yard.run(REWRITE, ref).results["files_rewritten"] == 10
    assert yard.all_rows() == rows


def test_it_makes_room_between_two_commits_and_goes_on_later(yard: Yard, small_slices: None) -> None:
    yard.make()
    fill(yard)
    rows = yard.all_rows()
    ended = yard.run(REWRITE, control=Steered(yields=3))
    assert ended.ending is Ending.STOPPED
    assert (ended.changed, ended.results["commits"], ended.after["files"]) == (True, 1, 11)
    ended = yard.run(REWRITE, control=Steered(stops=3))
    assert (ended.ending, ended.detail) == (Ending.FAILED, "its timeout is over")
    assert (ended.changed, ended.results["commits"], ended.after["files"]) == (True, 1, 7)
    ended = yard.run(REWRITE)
    assert (ended.ending, ended.results["commits"], ended.after["files"]) == (Ending.SUCCEEDED, 1, 3)
    assert yard.all_rows() == rows
    assert yard.operations()[5:] == ["replace"] * 3


def test_killed_at_each_call_the_table_is_whole_and_the_next_run_goes_on(
    yard: Yard, small_slices: None
) -> None:
    yard.make()
    fill(yard)
    rows = yard.all_rows()
    calls, died = 1 - every(2), 0
    while True:
        # A pause asks twice, and nothing happens between its questions.
        calls += every(2)
        control = killed_at(calls)
        try:
            ended = yard.run(REWRITE, control=control)
        except KeyboardInterrupt:
            died += 1
            assert yard.all_rows() == rows
            continue
        break
    assert died >= 3
    assert ended.ending is Ending.SUCCEEDED
    assert {day: len(files) for day, files in yard.files_by_day().items()} == dict.fromkeys(DAYS, 1)
    assert yard.all_rows() == rows


@pytest.mark.parametrize("version", pick([2, 3], 1))
def test_rows_that_were_deleted_beside_their_files_are_gone_and_so_are_the_deletes(
    yard: Yard, version: int
) -> None:
    yard.make(properties=f"'format-version' = '{version}', 'write.delete.mode' = 'merge-on-read'")
    yard.insert(*((DAYS[0], number) for number in range(10)), (DAYS[1], 1))
    yard.sql("DELETE FROM T WHERE id = 3", "DELETE FROM T WHERE id = 5")
    rows, before = yard.all_rows(), yard.health().values
    assert (before["files"], before["delete_files"]) == (2, 1)
    assert before["delete_ratio"] == 2 / 11
    ended = yard.run(REWRITE, delete_file_threshold=1)
    assert ended.results["delete_files_removed"] == 1
    assert (ended.after["files"], ended.after["delete_files"], ended.after["delete_ratio"]) == (2, 0, 0)
    assert yard.all_rows() == rows
    assert len(rows) == 9


def test_deletes_that_another_writer_removes_first_are_no_failure(yard: Yard) -> None:
    yard.make(
        properties="'format-version' = '2', 'write.delete.mode' = 'merge-on-read', "
        "'write.delete.granularity' = 'partition'"
    )
    # A file that is not compacted, and older than the deletes: Iceberg's commit would remove them otherwise.
    yard.insert(("2013-12-31", 1))
    for number in range(5):
        yard.insert(*((day, id) for day in DAYS for id in (number, 100 + number)))
    # Of two files in each partition, so that they belong to none of them.
    yard.sql("DELETE FROM T WHERE id IN (3, 4)")
    # Deletes that are as young as the compacted files count as needed.
    yard.insert(*((day, 5) for day in DAYS))
    rows, theirs = yard.all_rows(), CatalogTable(yard.spark, yard.full_name)
    removed = list[int]()

    def meanwhile(_: int) -> None:
        # Compacted, and about to remove what is left of the deletes.
        if yard.operations()[-1] == "replace" and not removed:
            result = theirs.actions().removeDanglingDeleteFiles(theirs.load()).execute()
            removed.append(len(list(each(result.removedDeleteFiles()))))

    ended = yard.run(REWRITE, control=Steered(meanwhile))
    assert (ended.ending, ended.detail, ended.results["commits"]) == (Ending.SUCCEEDED, "", 1)
    assert removed == [3]
    assert "delete_files_removed" not in ended.results
    assert (ended.after["files"], ended.after["delete_files"], yard.all_rows()) == (4, 0, rows)


def test_sorting_needs_a_sort_order(yard: Yard) -> None:
    yard.make(cut="")
    fill(yard)
    ended = yard.run(REWRITE, strategy="sort")
    assert ended.ending is Ending.FAILED
    assert "has no sort order; set one with ALTER TABLE" in ended.detail
    yard.sql("ALTER TABLE T WRITE ORDERED BY id DESC")
    rows = yard.all_rows()
    assert yard.run(REWRITE, strategy="sort").after["files"] == 1
    assert yard.all_rows() == rows
    stored = [row.id for row in yard.spark.table(yard.full_name).collect()]
    assert stored == sorted(stored, reverse=True)
    assert "zorder' is not known" in yard.run(REWRITE, strategy="zorder").detail
    assert yard.run(REWRITE, sort_by="id").detail.startswith("rewrite_data_files has no option sort_by")


def test_manifests_become_fewer_and_are_then_left_alone(yard: Yard) -> None:
    yard.make()
    fill(yard)
    rows = yard.all_rows()
    ended = yard.run(MANIFESTS)
    assert (ended.ending, ended.changed) == (Ending.SUCCEEDED, True)
    assert ended.results == {"manifests_rewritten": 5, "manifests_added": 1}
    assert (ended.before["manifests"], ended.after["manifests"]) == (5, 1)
    assert yard.operations()[-1] == "replace"
    assert not yard.run(MANIFESTS).changed
    assert yard.snapshots() == 6
    assert yard.all_rows() == rows


def test_a_table_that_does_not_exist(yard: Yard) -> None:
    ended = yard.run(REWRITE)
    assert (ended.ending, ended.results["gone"], ended.before) == (Ending.FAILED, True, {})
    assert ended.detail == f"{yard.full_name} does not exist"
