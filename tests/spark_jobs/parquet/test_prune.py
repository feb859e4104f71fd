"""Pruning: what goes, what must stay, and what a prune that died leaves for the next."""

from pathlib import Path

import pytest

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.staging import Rows, begin, daily, read_rows, stage_rows
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.commit.sequence import CommitSequence, encode_sequence
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.parquet import prune
from tidegate.spark_jobs.parquet.version_log import VERSIONS_FOLDER, version_numbers
from tidegate.spark_jobs.publication.table import prune_table, sequence_of

pytestmark = pytest.mark.slow  # processes, and files of many versions

TABLE = daily("table")
NOTHING = prune.Unfinished("", ())


class Table:
    """One table that is published into and pruned."""

    def __init__(self, folder: Path, ref: DatasetRef = TABLE) -> None:
        self.ref = ref
        self.warehouse = Warehouse(path=folder, project=folder)
        self.files = self.warehouse.files
        self.store = MemoryCommitStepStore()
        self.root = ref.root(self.warehouse)

    def sequence(self, number: int, rows: Rows) -> CommitSequence:
        commit = f"c{number}"
        token = begin(self.store, commit, [self.ref.id])
        staged = stage_rows(self.warehouse, self.ref, rows, commit=commit, token=token)
        return sequence_of(commit, token, [staged])

    def publish(self, number: int, rows: Rows) -> None:
        publish(self.sequence(number, rows), self.store, CommitContext(files=self.files))

    def folders(self) -> set[str]:
        return {Path(folder).name for folder in prune.version_folders(self.files, self.root)}

    def prune(self, keep: int, unfinished: prune.Unfinished = NOTHING) -> tuple[int, int]:
        folders = prune.version_folders(self.files, self.root)
        oldest = next(iter(version_numbers(self.files, self.root)[-keep:]), None)
        return prune.prune(self.files, self.root, folders, unfinished, oldest=oldest)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Five publishes of one day, and one of another at the beginning."""
    made = Table(tmp_path)
    made.publish(1, {"2013-12-21": [1], "2013-12-22": [1]})
    for number in range(2, 6):
        made.publish(number, {"2013-12-22": [number]})
    return made


def test_the_last_versions_stay_with_all_they_name(table: Table) -> None:
    assert table.prune(keep=2) == (3, 3)
    assert version_numbers(table.files, table.root) == (4, 5)
    # c1 still holds the 21st; c4 is what a reader of version 4 sees.
    assert table.folders() == {"c1", "c4", "c5"}
    assert read_rows(table.warehouse, TABLE) == {"2013-12-21": [1], "2013-12-22": [5]}
    assert table.prune(keep=2) == (0, 0)


def test_what_an_unfinished_sequence_has_moved_stays(table: Table) -> None:
    sequence = table.sequence(6, {"2013-12-23": [6]})
    sequence.steps[0].execute(CommitContext(files=table.files))
    unfinished = prune.Unfinished(table.root, (sequence,))
    assert table.prune(keep=1, unfinished=unfinished) == (4, 4)
    assert "c6" in table.folders()


def test_what_a_merge_has_left_of_a_partition_stays_while_it_is_unfinished(table: Table) -> None:
    sequence = table.sequence(6, {"2013-12-22": [6]})
    survivors, foreign = (Path(table.root, "_data", "day=2013-12-22", name) for name in ("c6+5+a", "c7+5+a"))
    for folder in (survivors, foreign):
        folder.mkdir()
    table.prune(keep=1, unfinished=prune.Unfinished(table.root, (sequence,)))
    assert survivors.exists() and not foreign.exists()
    table.prune(keep=1)
    assert not survivors.exists()


def test_what_was_appended_stays_as_long_as_its_partition(tmp_path: Path) -> None:
    added = Table(tmp_path, daily("table", "append"))
    for number in range(1, 6):
        added.publish(number, {"2013-12-22": [number]})
    assert added.prune(keep=1) == (4, 0)
    assert read_rows(added.warehouse, added.ref) == {"2013-12-22": [1, 2, 3, 4, 5]}

    replaced = Table(tmp_path, TABLE)
    replaced.store = added.store
    replaced.publish(6, {"2013-12-22": [6]})
    assert replaced.prune(keep=2) == (0, 0), "a reader of the version before still finds all of them"
    assert replaced.prune(keep=1) == (1, 5)
    assert read_rows(replaced.warehouse, replaced.ref) == {"2013-12-22": [6]}


def test_versions_from_the_base_of_an_unfinished_sequence_stay(table: Table) -> None:
    """A slow publisher that is about to create the version after its base must find the name taken."""
    slow = table.sequence(6, {"2013-12-23": [6]})
    for number in range(7, 10):
        table.publish(number, {"2013-12-22": [number]})
    table.prune(keep=1, unfinished=prune.Unfinished(table.root, (slow,)))
    assert version_numbers(table.files, table.root) == (5, 6, 7, 8)


def test_a_prune_that_died_between_is_finished_by_the_next(table: Table) -> None:
    for number in version_numbers(table.files, table.root)[:-1]:
        table.files.delete(f"{table.root}/{VERSIONS_FOLDER}/{number:020d}.json")
    assert table.prune(keep=1) == (0, 4)
    assert table.folders() == {"c1", "c5"}


def test_half_written_versions_of_taken_numbers_are_swept(table: Table) -> None:
    folder = Path(table.root, VERSIONS_FOLDER)
    (folder / f".{3:020d}.json.abc").write_text("{")
    (folder / f".{9:020d}.json.abc").write_text("{")
    table.prune(keep=1)
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == [f".{9:020d}.json.abc"]


def test_it_runs_now_and_then(table: Table) -> None:
    limit = prune.KEEP_VERSIONS + prune.SURPLUS_VERSIONS
    for number in range(6, limit):
        table.publish(number, {"2013-12-22": [number]})
        prune_table(TABLE, table.warehouse, table.store)
    assert len(version_numbers(table.files, table.root)) == limit - 1

    unfinished = table.sequence(1000, {"2013-12-23": [0]})
    table.store.put(unfinished.id, unfinished.datasets, unfinished.token, encode_sequence(unfinished))
    table.publish(limit, {"2013-12-22": [limit]})
    prune_table(TABLE, table.warehouse, table.store)

    # The unfinished sequence was made at version limit - 1, so it holds nothing back here.
    assert len(version_numbers(table.files, table.root)) == prune.KEEP_VERSIONS
    assert read_rows(table.warehouse, TABLE) == {"2013-12-21": [1], "2013-12-22": [limit]}


def test_from_a_version_on_all_stay_whatever_is_published_meanwhile(table: Table) -> None:
    table.publish(6, {"2013-12-22": [6]})
    pruned = prune.prune_table(table.files, table.root, TABLE.id, table.store, oldest=4)
    assert pruned == prune.Pruned(versions=3, folders=3, oldest_base=None)
    assert version_numbers(table.files, table.root) == (4, 5, 6)
    assert prune.prune_table(table.files, table.root, TABLE.id, table.store, oldest=99).versions == 2
    assert version_numbers(table.files, table.root) == (6,)


def test_a_table_that_was_never_published_has_nothing_to_prune(tmp_path: Path) -> None:
    assert Table(tmp_path).prune(keep=1) == (0, 0)
