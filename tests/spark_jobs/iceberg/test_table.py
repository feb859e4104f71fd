"""Iceberg tables through the very steps of a run: write modes, keys, fences, readers, and no rubbish."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.spark_jobs.iceberg.house import D22, D23, D24, DAILY, TWO, House
from tidegate.domain.published import PublishedPartition
from tidegate.spark_jobs.commit.sequence import decode_sequence, encode_sequence
from tidegate.spark_jobs.commit.step import Verdict
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.iceberg.catalog.catalog import catalog_of
from tidegate.spark_jobs.iceberg.publish.publisher import Publisher
from tidegate.spark_jobs.iceberg.table.table import log_of
from tidegate.spark_jobs.publication.table import read, sequence_of, top_token

pytestmark = pytest.mark.spark


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession) -> House:
    return House(tmp_path, spark)


def facts(published: Sequence[PublishedPartition]) -> list[tuple[str, int, bool, int]]:
    return [(one.key, one.rows, one.bytes > 0, one.files) for one in published]


def test_a_publish_replaces_its_partitions_and_clears_those_without_rows(house: House) -> None:
    ref = house.ref("overwrite_partitions")
    assert read(house.spark, ref, house.warehouse) is None
    published = house.publish(house.frame((D22, 1, "a"), (D22, 2, "b"), (D23, 3, "c")), ref, D22, D23, D24)
    assert facts(published) == [(D22, 2, True, 1), (D23, 1, True, 1), (D24, 0, False, 0)]

    house.publish(house.frame((D22, 9, "z")), ref, D22, D24)
    assert house.rows(ref) == [(D22, 9, "z"), (D23, 3, "c")]
    assert house.rows(ref, D23, "2013-12-31") == [(D23, 3, "c")]

    (cleared,) = facts(house.publish(house.frame(), ref, D22))
    assert cleared == (D22, 0, False, 0)
    assert house.rows(ref) == [(D23, 3, "c")]
    assert house.rows(ref, D22) == []

    summary = house.table().currentSnapshot().summary()
    assert {name: summary[f"tidegate.{name}"] for name in ("commit", "token", "job", "keys", "write")} == {
        "commit": "c3", "token": "3", "job": "job 3", "keys": f'["{D22}"]', "write": "overwrite_partitions",
    }  # fmt: skip
    assert house.snapshots() == 3, "one publish is one snapshot"
    assert house.staged() == []
    assert top_token(ref, house.warehouse, lambda: house.spark) == 3


def test_appending_adds_and_full_replaces(house: House) -> None:
    added, whole = house.ref("append"), house.ref("full", None, "w")
    for number in (1, 2):
        assert facts(house.publish(house.frame((D22, number, "a")), added, D22)) == [(D22, 1, True, 1)]
        house.publish(house.frame((number,), columns="n int"), whole)
    assert facts(house.publish(house.frame(), added, D22)) == [(D22, 0, False, 0)]
    assert house.operations() == ["append"] * 3, "a publish without rows is a publish"
    assert house.rows(added) == [(D22, 1, "a"), (D22, 2, "a")]
    assert house.rows(whole) == [(2,)]
    house.publish(house.frame(columns="n int"), whole)
    assert house.rows(whole) == []


def test_full_replaces_every_partition_of_the_table(house: House) -> None:
    ref = house.ref("full")
    house.publish(house.frame((D22, 1, "a"), (D23, 1, "a")), ref, D22, D23)
    published = house.publish(house.frame((D23, 2, "b")), ref, D23, D24)
    assert facts(published) == [(D23, 1, True, 1), (D24, 0, False, 0)]
    assert house.rows(ref) == [(D23, 2, "b")], "a partition that is not the run's disappears"

    house.publish(house.frame(), ref, D22)
    assert house.rows(ref) == []
    with pytest.raises(OutputError, match="outside the partitions of its run"):
        house.publish(house.frame((D22, 1, "a"), (D23, 1, "a")), ref, D22)


def test_full_and_what_later_runs_have_written(house: House) -> None:
    """P12: the table is as if all had published in the order in which they began."""
    two = house.ref("overwrite_partitions", TWO)
    all_of_it = house.ref("full", TWO)
    first, second, third = f"007|{D22}", f"x_y|{D22}", f"x_y|{D23}"

    def rows(*keys: str, of: int) -> DataFrame:
        return house.frame(*((*key.split("|"), of) for key in keys), columns="code string, day string, v int")

    house.publish(rows(first, second, third, of=0), two, first, second, third)
    late = house.stage(rows(first, second, of=5), all_of_it, first, second, commit="full", token=5)
    older = house.stage(rows(third, of=4), two, third, commit="older", token=4)
    newer = house.stage(rows(first, of=6), two, first, commit="newer", token=6)
    for staged in (newer, late, older):
        staged.version_step().execute(house.context)
        assert staged.version_step().verify(house.context).verdict is Verdict.DONE
    assert house.rows(two) == [("007", D22, 6), ("x_y", D22, 5)]


def test_merging_replaces_rows_of_the_same_keys_in_the_same_partition(house: House) -> None:
    ref, catalog = house.ref("merge", DAILY, "t", "id"), catalog_of(house.spark)
    known = set(catalog.staged)
    house.publish(house.frame((D22, 1, "a"), (D22, 2, "b"), (D23, 1, "c")), ref, D22, D23)
    published = house.publish(house.frame((D22, 2, "B"), (D22, 3, "C"), (D22, None, "n")), ref, D22)
    assert facts(published) == [(D22, 3, True, 1)]
    kept = [(D22, 1, "a"), (D22, 2, "B"), (D22, 3, "C")]
    assert house.rows(ref) == [(D22, None, "n"), *kept, (D23, 1, "c")]

    # The same row once more changes nothing, and a key without a value is a key like others.
    house.publish(house.frame((D22, 2, "B"), (D22, None, "N")), ref, D22)
    assert house.rows(ref, D22) == [(D22, None, "N"), *kept]
    assert house.live_files() <= house.data_files()
    # The other rows of a file are staged once more; a process keeps nothing of attempts that have ended.
    assert house.staged() == []
    assert set(catalog.staged) == known

    with pytest.raises(OutputError, match=r"several rows with the same merge keys: day=2013-12-22, id=7"):
        house.publish(house.frame((D22, 7, "x"), (D22, 7, "y")), ref, D22)
    with pytest.raises(OutputError, match="has no column id, which is a merge key"):
        house.publish(house.frame((D22, "x"), columns="day string, value string"), ref, D22)


def test_two_dimensions_and_odd_values_are_kept_apart(house: House) -> None:
    ref = house.ref("overwrite_partitions", TWO)
    columns = "code string, day string, v int"
    rows = [("007", D22, 1), ("a b.c:d", D22, 2), ("a b.c:d", D23, 3), ("x_y", D23, 4)]
    house.publish(house.frame(*rows, columns=columns), ref, *(f"{code}|{day}" for code, day, _ in rows))
    house.publish(house.frame(("a b.c:d", D22, 20), columns=columns), ref, f"a b.c:d|{D22}", f"007|{D22}")
    assert house.rows(ref) == [("a b.c:d", D22, 20), ("a b.c:d", D23, 3), ("x_y", D23, 4)]
    assert house.rows(ref, f"a b.c:d|{D23}", f"x_y|{D22}") == [("a b.c:d", D23, 3)]


def test_rows_outside_the_run_are_refused_and_leave_nothing(house: House) -> None:
    ref = house.ref("append")
    publication = house.publication("c1", ref)
    with pytest.raises(OutputError, match=r"outside the partitions of its run: 2013-12-23 \(1 rows\)"):
        publication.stage(house.frame((D22, 1, "a"), (D23, 2, "b")), ref, (D22,))
    publication.discard()
    assert house.staged() == []
    assert house.data_files() == set()
    assert read(house.spark, ref, house.warehouse) is None


def test_a_table_that_is_cut_differently_is_refused(house: House) -> None:
    house.publish(house.frame((D22, 1, "a")), house.ref("append"), D22)
    with pytest.raises(OutputError, match=r"partitioned by identity\(day\), but its dataset by nothing"):
        house.publish(house.frame((D22, 1, "a")), house.ref("append", None))


def test_an_older_token_never_replaces_a_newer_one(house: House) -> None:
    """P12: what a zombie has staged of other partitions is published, the rest is not."""
    ref = house.ref("overwrite_partitions")
    zombie = house.stage(house.frame((D22, 1, "old"), (D23, 1, "old")), ref, D22, D23, commit="z", token=5)
    newer = house.stage(house.frame(), ref, D22, commit="n", token=6)
    for staged in (newer, zombie):
        for step in (staged.version_step(), staged.cleaning_step()):
            step.execute(house.context)
            assert step.verify(house.context).verdict is Verdict.DONE
    assert house.rows(ref) == [(D23, 1, "old")]
    assert house.data_files() == house.live_files(), "what was not published is removed"

    beaten = house.stage(house.frame((D22, 1, "old")), ref, D22, commit="b", token=4).version_step()
    assert beaten.base == 2
    msgspec.structs.replace(beaten, base=0).execute(house.context)
    assert house.rows(ref) == [(D23, 1, "old")]
    assert beaten.verify(house.context).verdict is Verdict.DONE


def test_a_commit_on_a_table_that_changed_meanwhile_looks_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process publishes the same sequence between our look and our commit: one effect."""
    ref = house.ref("append")
    house.publish(house.frame((D22, 0, "first")), ref, D22)
    step = house.stage(house.frame((D22, 1, "a")), ref, D22, commit="twice", token=2).version_step()
    real = Publisher._summary
    calls = count()

    def raced(self: Any, keys: Any) -> dict[str, str]:
        if next(calls) == 0:
            step.execute(house.context)
        return real(self, keys)

    monkeypatch.setattr(Publisher, "_summary", raced)
    step.execute(house.context)
    assert house.rows(ref) == [(D22, 0, "first"), (D22, 1, "a")]
    assert house.snapshots() == 2


def test_verify_has_three_answers(house: House) -> None:
    ref = house.ref("append")
    staged = house.stage(house.frame((D22, 1, "a")), ref, D22, commit="c", token=1)
    publish, clean = staged.version_step(), staged.cleaning_step()
    assert publish.verify(house.context).verdict is Verdict.NOT_DONE
    publish.execute(house.context)
    publish.execute(house.context)
    assert publish.verify(house.context).verdict is Verdict.DONE
    clean.execute(house.context)
    clean.execute(house.context)
    assert publish.verify(house.context).verdict is Verdict.DONE
    assert house.rows(ref) == [(D22, 1, "a")]

    lost = house.stage(house.frame((D22, 2, "b")), ref, D22, commit="lost", token=2)
    lost.cleaning_step().execute(house.context)
    catalog_of(house.spark).staged.clear()  # as in another process
    answer = lost.version_step().verify(house.context)
    assert answer.verdict is Verdict.UNKNOWN
    assert "does not list the commit, and the list of its staged files, " in answer.reason


@pytest.mark.soak  # crash_table/test_two_drivers.py and test_sweep.py write both formats in each commit
def test_both_formats_are_published_as_one_sequence(house: House) -> None:
    lake = house.ref("append")
    files = DatasetRef(app=house.app, name="p", scheme=DAILY)
    publication = house.publication("both", lake, files)
    for ref in (lake, files):
        publication.stage(house.frame((D22, 1, "a")), ref, (D22,))
    assert read(house.spark, files, house.warehouse) is None
    published = publication.publish()
    assert [(one.dataset, one.key, one.rows) for one in published] == [("t", D22, 1), ("p", D22, 1)]
    assert house.rows(lake) == [(D22, 1, "a")]
    assert sorted(tuple(row) for row in house.rows(files)) == [(D22, 1, "a")]
    assert house.store.list_unfinished() == ()


def test_a_sequence_survives_its_json(house: House) -> None:
    ref = house.ref("merge", DAILY, "t", "id")
    staged = house.stage(house.frame((D22, 1, "a")), ref, D22, commit="c", token=3)
    sequence = sequence_of("c", 3, [staged])
    again = decode_sequence(encode_sequence(sequence))
    assert again == sequence
    for step in again.steps:
        step.execute(house.context)
    assert log_of(house.table()).find("c") is not None
