"""Each write mode of a Parquet table with Spark: what is added, merged and replaced, and how often."""

from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import tidegate.read
from tests.effort import only, pick
from tests.spark_jobs.frames import frame_of
from tidegate.domain.model import PartitionScheme, TimeDimension, WriteMode
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.sequence import CommitSequence, decode_sequence, encode_sequence
from tidegate.spark_jobs.commit.step import Verdict
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.parquet import output as parquet
from tidegate.spark_jobs.parquet import prune
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry
from tidegate.spark_jobs.parquet.steps import merge as publish_merge
from tidegate.spark_jobs.parquet.steps.merge import PublishMerge
from tidegate.spark_jobs.parquet.version_log import head
from tidegate.spark_jobs.publication.table import read, sequence_of

pytestmark = pytest.mark.spark

DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01"))
ROWS = "day string, id int, value string"
R = TypeVar("R", bound=tuple[Any, ...])
D22, D23, D24 = "2013-12-22", "2013-12-23", "2013-12-24"


class House:
    """Stages, publishes and reads one table, step by step and without a store."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.spark = spark
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.files = self.warehouse.files
        self.context = CommitContext(files=self.files, spark=lambda: spark)
        self._numbers = count(1)

    def ref(
        self,
        write: WriteMode,
        *merge_keys: str,
        scheme: PartitionScheme | None = DAILY,
        path: str | None = None,
    ) -> DatasetRef:
        return DatasetRef(app="test", name="t", scheme=scheme, write=write, merge_keys=merge_keys, path=path)

    def frame(self, *rows: tuple[Any, ...], columns: str = ROWS) -> DataFrame:
        return frame_of(self.spark, rows, columns)

    def staged(self, frame: DataFrame, ref: DatasetRef, *keys: str) -> CommitSequence:
        number = next(self._numbers)
        table = parquet.stage(frame, ref, keys or ("",), self.warehouse, commit=f"c{number}", token=number)
        sequence = sequence_of(f"c{number}", number, [table])
        assert decode_sequence(encode_sequence(sequence)) == sequence
        return sequence

    def do(self, sequence: CommitSequence) -> None:
        for step in sequence.steps:
            if step.verify(self.context).verdict is Verdict.NOT_DONE:
                step.execute(self.context)
            assert step.verify(self.context).verdict is Verdict.DONE, step.describe()

    def publish(self, frame: DataFrame, ref: DatasetRef, *keys: str) -> list[tuple[str, int, bool, int]]:
        sequence = self.staged(frame, ref, *keys)
        self.do(sequence)
        return [(one.key, one.rows, one.bytes > 0, one.files) for one in sequence.result]

    def rows(self, ref: DatasetRef, *keys: str) -> list[tuple[Any, ...]]:
        """The rows as pyarrow finds them, for tests that are not about columns."""
        found = tidegate.read.pyarrow(ref.root(self.warehouse), keys or None).to_table().to_pylist()
        return in_order((row["day"], row["id"], row["value"]) for row in found)

    def frame_rows(self, ref: DatasetRef) -> list[Row]:
        """The rows as a program gets them."""
        frame = read(self.spark, ref, self.warehouse)
        assert frame is not None
        return in_order(frame.collect())

    def entry(self, ref: DatasetRef, key: str) -> PartitionEntry:
        return head(self.files, ref.root(self.warehouse)).partitions[key]

    def folders(self, ref: DatasetRef) -> set[str]:
        root = ref.root(self.warehouse)
        return {folder.removeprefix(f"{root}/") for folder in prune.version_folders(self.files, root)}


def in_order(rows: Iterable[R]) -> list[R]:
    """Sort rows with nulls, which come first."""
    return sorted(rows, key=lambda row: [(value is not None, value) for value in row])


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession) -> House:
    return House(tmp_path, spark)


def test_appending_adds_and_keeps_what_a_reader_has_begun_to_read(house: House) -> None:
    ref = house.ref("append")
    assert house.publish(house.frame((D22, 1, "a")), ref, D22) == [(D22, 1, True, 1)]
    before = read(house.spark, ref, house.warehouse)
    assert house.publish(house.frame((D22, 1, "a"), (D23, 2, "b")), ref, D22, D23) == [
        (D22, 1, True, 1),
        (D23, 1, True, 1),
    ]
    assert house.publish(house.frame(), ref, D22, D24) == [(D22, 0, False, 0), (D24, 0, False, 0)]

    assert house.rows(ref) == [(D22, 1, "a"), (D22, 1, "a"), (D23, 2, "b")]
    assert house.rows(ref, D22, D24) == [(D22, 1, "a"), (D22, 1, "a")]
    assert house.entry(ref, D22).rows == 2
    assert before is not None and before.collect() == [(D22, 1, "a")]


def test_appending_to_a_table_without_partitions(house: House) -> None:
    ref = house.ref("append", scheme=None)
    for number in (1, 2):
        house.publish(house.frame((number,), columns="n int"), ref)
    assert house.frame_rows(ref) == [(1,), (2,)]


def test_columns_come_and_go_and_older_files_have_no_values(house: House) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    house.publish(house.frame((D22, 0.5, 2), columns="day string, share double, ID int"), ref, D22)
    house.publish(house.frame((D23, "c"), columns="day string, value string"), ref, D23)
    assert house.frame_rows(ref) == [
        Row(day=D22, id=1, value="a", share=None),
        Row(day=D22, id=2, value=None, share=0.5),
        Row(day=D23, id=None, value="c", share=None),
    ]


@pytest.mark.parametrize("write", only(["append", "merge", "overwrite_partitions"], "merge"))
def test_a_column_keeps_its_type(house: House, write: WriteMode) -> None:
    ref = house.ref(write, *(("id",) if write == "merge" else ()))
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    with pytest.raises(OutputError, match="value is string in the table and double in the output"):
        house.publish(house.frame((D22, 1, 1.5), columns="day string, id int, value double"), ref, D22)


def test_full_replaces_every_partition_and_the_columns(house: House) -> None:
    ref = house.ref("full")
    house.publish(house.frame((D22, 1, "a"), (D23, 2, "b")), ref, D22, D23)
    narrower = house.frame((D23, 1.5), columns="day string, id double")
    assert house.publish(narrower, ref, D23, D24) == [(D23, 1, True, 1), (D24, 0, False, 0)]
    assert house.frame_rows(ref) == [Row(day=D23, id=1.5)]
    house.publish(house.frame(), ref, D22)
    assert house.frame_rows(ref) == []
    assert read(house.spark, ref, house.warehouse).columns == ["day", "id", "value"]


def test_merging_replaces_rows_of_the_same_keys_in_the_same_partition(house: House) -> None:
    ref = house.ref("merge", "id")
    first = house.frame((D22, 1, "a"), (D22, 2, "b"), (D22, None, "n"), (D23, 1, "c"))
    house.publish(first, ref, D22, D23)
    # A key without a value is a key like others, and the same rows once more change nothing.
    for _ in range(2):
        again = house.frame((D22, 2, "B"), (D22, 3, "C"), (D22, None, "N"))
        assert house.publish(again, ref, D22) == [(D22, 3, True, 1)]
        assert house.rows(ref, D22) == [(D22, None, "N"), (D22, 1, "a"), (D22, 2, "B"), (D22, 3, "C")]
        assert house.entry(ref, D22).rows == 4
    assert house.publish(house.frame(), ref, D22) == [(D22, 0, False, 0)]
    assert len(house.rows(ref)) == 5


def test_merging_writes_again_only_where_it_replaces(house: House) -> None:
    ref = house.ref("merge", "id")
    house.publish(house.frame((D22, 1, "a"), (D23, 1, "b"), (D24, 1, "c"), (D24, 2, "d")), ref, D22, D23, D24)
    house.publish(house.frame((D22, 2, "new"), (D23, 1, "whole"), (D24, 1, "one")), ref, D22, D23, D24)

    assert house.entry(ref, D22).folders == ("_data/day=2013-12-22/c1", "_data/day=2013-12-22/c2")
    assert house.entry(ref, D23).folders == ("_data/day=2013-12-23/c2",)
    survivors, coming = house.entry(ref, D24).folders
    assert survivors.startswith("_data/day=2013-12-24/c2+1+")
    assert coming == "_data/day=2013-12-24/c2"
    assert [row[1:] for row in house.rows(ref, D24)] == [(1, "one"), (2, "d")]
    assert house.files.list(f"{ref.root(house.warehouse)}/_staging") == ()


def test_merging_with_other_columns_and_without_partitions(house: House) -> None:
    ref = house.ref("merge", "id", scheme=None)
    house.publish(house.frame((1, "a"), (2, "b"), columns="id int, value string"), ref)
    house.publish(house.frame((0.5, 2), columns="share double, id int"), ref)
    assert house.frame_rows(ref) == [Row(id=1, value="a", share=None), Row(id=2, value=None, share=0.5)]


def test_a_merge_is_refused_before_anything_is_published(house: House) -> None:
    ref = house.ref("merge", "id")
    with pytest.raises(OutputError, match=r"several rows with the same merge keys: day=2013-12-22, id=7"):
        house.staged(house.frame((D22, 7, "x"), (D22, 7, "y"), (D23, 7, "z")), ref, D22, D23)
    with pytest.raises(OutputError, match="has no column id, which is a merge key"):
        house.staged(house.frame((D22, "x"), columns="day string, value string"), ref, D22)
    assert read(house.spark, ref, house.warehouse) is None


def meanwhile(monkeypatch: pytest.MonkeyPatch, *works: Callable[[], object]) -> list[frozenset[str]]:
    """Does one thing each time that a merge is about to put its version; tells what was merged each time."""
    left, merged = list(works), list[frozenset[str]]()
    put, merge = publish_merge.put_version, publish_merge.merged_partitions

    def late(*args: Any) -> bool:
        if left:
            left.pop(0)()
        return put(*args)

    def watched(*args: Any, **named: Any) -> dict[str, PartitionEntry]:
        merged.append(frozenset(args[3]))
        return merge(*args, **named)

    monkeypatch.setattr(publish_merge, "put_version", late)
    monkeypatch.setattr(publish_merge, "merged_partitions", watched)
    return merged


def test_a_merge_that_is_overtaken_merges_again_what_has_changed(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = house.ref("merge", "id")
    house.publish(house.frame((D22, 1, "a"), (D23, 1, "a")), ref, D22, D23)
    slow = house.staged(house.frame((D22, 1, "slow"), (D23, 1, "slow")), ref, D22, D23)
    other = house.staged(house.frame((D23, 2, "other"), (D23, 3, "other")), ref, D23)
    merged = meanwhile(monkeypatch, lambda: house.do(other))

    house.do(slow)

    assert house.rows(ref) == [(D22, 1, "slow"), (D23, 1, "slow"), (D23, 2, "other"), (D23, 3, "other")]
    assert merged == [{D22, D23}, {D23}, {D23}]


@pytest.mark.soak  # test_publish_crash.py: one commit published by three at once, also of a merge
def test_one_merge_done_by_two_at_once_happens_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    ref = house.ref("merge", "id")
    house.publish(house.frame((D22, 1, "a"), (D22, 2, "b")), ref, D22)
    sequence = house.staged(house.frame((D22, 1, "A")), ref, D22)
    meanwhile(monkeypatch, lambda: house.do(sequence))

    house.do(sequence)

    assert house.rows(ref) == [(D22, 1, "A"), (D22, 2, "b")]
    assert head(house.files, ref.root(house.warehouse)).number == 2


@pytest.mark.soak  # test_publish_crash.py: recovery of a merge; test_prune.py: what a merge has left
def test_a_merge_that_died_before_its_version_is_done_again_and_swept(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = house.ref("merge", "id")
    house.publish(house.frame((D22, 1, "a"), (D22, 2, "b")), ref, D22)
    sequence = house.staged(house.frame((D22, 1, "A")), ref, D22)

    def die() -> None:
        raise KeyboardInterrupt

    meanwhile(monkeypatch, die)
    with pytest.raises(KeyboardInterrupt):
        house.do(sequence)
    assert house.rows(ref) == [(D22, 1, "a"), (D22, 2, "b")]

    # While it is unfinished a prune leaves what it has made; afterwards only what is named stays.
    root = ref.root(house.warehouse)
    made = prune.version_folders(house.files, root)
    assert len(made) == 3
    assert prune.prune(house.files, root, made, prune.Unfinished(root, (sequence,))) == (0, 0)
    house.do(sequence)
    assert prune.prune(house.files, root, made, prune.Unfinished(root, ())) == (0, 1)
    assert house.rows(ref) == [(D22, 1, "A"), (D22, 2, "b")]


def test_a_merge_into_nothing_starts_no_session(house: House) -> None:
    ref = house.ref("merge", "id")
    sequence = house.staged(house.frame((D22, 1, "a")), ref, D22)
    house.context = CommitContext(files=house.files)
    house.do(sequence)
    assert house.rows(ref) == [(D22, 1, "a")]
    assert any(isinstance(step, PublishMerge) for step in sequence.steps)


@pytest.mark.parametrize("write", pick(["append", "merge"], 1))
def test_what_was_landed_is_not_lost_from_sight_by_adding_to_it(house: House, write: WriteMode) -> None:
    ref = house.ref(write, *(("id",) if write == "merge" else ()), path="landing/t")
    house.frame((1, "a"), columns="id int, value string").write.parquet(
        f"{ref.root(house.warehouse)}/day={D22}"
    )
    with pytest.raises(OutputError, match="holds files that were landed from outside"):
        house.staged(house.frame((D22, 1, "b")), ref, D22)
