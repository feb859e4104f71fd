"""Maintenance of the Parquet tables of datasets: rows stay, files become few, old versions go."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.iceberg.house import D22, D23, D24, DAILY
from tests.spark_jobs.maintenance.yard import (
    EXPIRE,
    MANIFESTS,
    ORPHANS,
    REWRITE,
    Later,
    Steered,
    Yard,
    killed_at,
)
from tests.spark_jobs.staging import put
from tidegate.domain.maintenance.reported import Ending
from tidegate.domain.model import Operation
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.maintenance import slicing
from tidegate.spark_jobs.maintenance.parquet import compaction
from tidegate.spark_jobs.parquet import output
from tidegate.spark_jobs.parquet.version_log import TableVersion, head
from tidegate.spark_jobs.publication.table import sequence_of

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Yard:
    """A dataset that is appended to: five files in each of two days, and one in a third."""
    yard = Yard(tmp_path_factory.mktemp("filled"), spark)
    ref = dataset(yard)
    for number in range(5):
        yard.publish(yard.frame((D22, number, "a"), (D23, number, "b")), ref, D22, D23)
    yard.publish(yard.frame((D24, 9, "c")), ref, D24)
    return yard


@pytest.fixture
def yard(tmp_path: Path, filled: Yard) -> Yard:
    return filled.copied(tmp_path)


@pytest.fixture
def ref(yard: Yard) -> DatasetRef:
    return dataset(yard)


def dataset(yard: Yard) -> DatasetRef:
    return DatasetRef(app=yard.app, name="t", scheme=DAILY, write="append")


def version(yard: Yard, ref: DatasetRef) -> TableVersion:
    return head(yard.warehouse.files, ref.root(yard.warehouse))


def files(yard: Yard, ref: DatasetRef) -> dict[str, int]:
    return {key: entry.files for key, entry in sorted(version(yard, ref).partitions.items())}


def test_small_files_become_one_for_each_partition(yard: Yard, ref: DatasetRef) -> None:
    rows, before = yard.rows(ref), version(yard, ref)
    ended = yard.run(REWRITE, ref)
    assert (ended.ending, ended.detail, ended.changed) == (Ending.SUCCEEDED, "", True)
    written = [version(yard, ref).partitions[day].bytes for day in (D22, D23)]
    assert ended.results == {
        "files_rewritten": 10,
        "files_added": 2,
        "bytes_added": sum(written),
        "commits": 1,
    }
    assert ended.bytes == sum(before.partitions[day].bytes for day in (D22, D23))
    assert files(yard, ref) == {D22: 1, D23: 1, D24: 1}
    assert (ended.before["files"], ended.after["files"]) == (11, 3)
    assert ended.after["total_size"] == sum(entry.bytes for entry in version(yard, ref).partitions.values())
    assert yard.rows(ref) == yard.linked(ref) == rows
    now = version(yard, ref)
    assert now.number == before.number + 1
    assert [now.partitions[D22].same_rows(before.partitions[D22]), now.top_token()] == [
        True,
        before.top_token(),
    ]
    assert (yard.store.list_unfinished(), yard.store.attempts()) == ((), ())
    assert not yard.run(REWRITE, ref).changed

    yard.publish(yard.frame((D22, 10, "a")), ref, D22)
    assert files(yard, ref) == {D22: 2, D23: 1, D24: 1}
    assert len(yard.rows(ref)) == len(yard.linked(ref)) == len(rows) + 1


@pytest.mark.parametrize("operation", [REWRITE, EXPIRE, ORPHANS, MANIFESTS])
def test_files_that_are_landed_from_outside_are_left_alone_without_a_failure(
    yard: Yard, operation: Operation
) -> None:
    folder = yard.warehouse.project / "landed"  # pyright: ignore[reportOperatorIssue] -- a path here
    folder.mkdir()
    (folder / "rows.parquet").write_bytes(b"as it came")
    ended = yard.run(operation, DatasetRef(app=yard.app, name="landed", path="landed"))
    assert (ended.ending, ended.changed) == (Ending.SUCCEEDED, False)
    assert "not_applicable" in ended.results
    assert [each.name for each in folder.iterdir()] == ["rows.parquet"]


def test_partitions_that_are_left_out_keep_their_folders(yard: Yard, ref: DatasetRef) -> None:
    before = version(yard, ref).partitions[D22]
    assert yard.run(REWRITE, ref, excluded=(D22,)).results["files_rewritten"] == 5
    assert version(yard, ref).partitions[D22] == before
    whole = DatasetRef(app=yard.app, name="whole", write="append")
    yard.publish(yard.frame((D22, 1, "a")), whole)
    ended = yard.run(REWRITE, whole, excluded=("",))
    assert (ended.changed, "not_applicable" in ended.results) == (False, True)


def test_what_is_published_meanwhile_stays(
    yard: Yard, ref: DatasetRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = yard.rows(ref)
    replaced = DatasetRef(app=yard.app, name="t", scheme=DAILY)
    publish = compaction.publish

    def late(*args: Any) -> object:
        yard.publish(yard.frame((D22, 77, "new")), ref, D22)
        yard.publish(yard.frame((D23, 88, "new")), replaced, D23)
        return publish(*args)

    with monkeypatch.context() as patch:
        patch.setattr(compaction, "publish", late)
        ended = yard.run(REWRITE, ref)
    kept = [row for row in rows if row.day != D23]
    assert yard.rows(ref) == yard.linked(ref) == sorted([*kept, (D22, 77, "new"), (D23, 88, "new")])
    assert files(yard, ref) == {D22: 2, D23: 1, D24: 1}
    assert (ended.results["files_rewritten"], ended.results["files_added"]) == (5, 1)
    assert (ended.results["bytes_added"], ended.results["commits"]) == (written_of(yard, ref, D22), 1)
    assert ended.results["groups_lost"] == 1


def written_of(yard: Yard, ref: DatasetRef, day: str) -> int:
    """The size of the files in the first folder of a partition."""
    folder = Path(ref.root(yard.warehouse), version(yard, ref).partitions[day].folders[0])
    return sum(file.stat().st_size for file in folder.glob("*.parquet"))


def test_what_others_have_replaced_was_not_compacted(
    yard: Yard, ref: DatasetRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced, publish = DatasetRef(app=yard.app, name="t", scheme=DAILY), compaction.publish

    def late(*args: Any) -> object:
        yard.publish(yard.frame((D22, 77, "new"), (D23, 88, "new")), replaced, D22, D23)
        return publish(*args)

    monkeypatch.setattr(compaction, "publish", late)
    ended = yard.run(REWRITE, ref)
    assert (ended.ending, ended.changed, ended.bytes) == (Ending.SUCCEEDED, False, 0)
    # Planned again, there was nothing left to compact.
    assert ended.results.pop("groups_lost") == 2
    assert set(ended.results.values()) == {0}


def test_a_race_that_is_lost_each_time_is_a_conflict(
    yard: Yard, ref: DatasetRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced, publish, tries = DatasetRef(app=yard.app, name="t", scheme=DAILY), compaction.publish, []

    def late(*args: Any) -> object:
        tries.append(args)
        yard.publish(yard.frame((D22, 77, "new"), (D23, 88, "new")), replaced, D22, D23)
        yard.publish(yard.frame((D22, 78, "new"), (D23, 89, "new")), ref, D22, D23)
        return publish(*args)

    with monkeypatch.context() as patch:
        patch.setattr(compaction, "publish", late)
        ended = yard.run(REWRITE, ref, min_input_files=2)
    assert (ended.ending, ended.changed, ended.results["commits"]) == (Ending.CONFLICT, False, 0)
    assert (ended.detail, len(tries)) == ("other runs replaced 2 partitions, 4 times in a row", 4)
    assert ended.results["groups_lost"] == 8
    assert files(yard, ref) == {D22: 2, D23: 2, D24: 1}
    assert yard.run(REWRITE, ref, min_input_files=2).ending is Ending.SUCCEEDED
    assert files(yard, ref) == {D22: 1, D23: 1, D24: 1}


def test_a_damaged_partition_is_left_as_it_is_and_can_be_restored(yard: Yard, ref: DatasetRef) -> None:
    rows, before = yard.rows(ref), version(yard, ref)
    root = Path(ref.root(yard.warehouse))
    lost = next((root / before.partitions[D22].folders[1]).glob("*.parquet"))
    content = lost.read_bytes()
    lost.unlink()
    stray = root / before.partitions[D23].folders[2] / "theirs.parquet"
    stray.write_bytes(content)
    ended = yard.run(REWRITE, ref)
    assert (ended.ending, ended.changed, ended.results["damaged"]) == (Ending.SUCCEEDED, False, 2)
    assert version(yard, ref) == before
    assert ended.detail.startswith("2 damaged partitions of ")
    for said in ("tidegate commits fsck", f"{D22}: ", lost.name, f"{D23}: ", "where others have put files"):
        assert said in ended.detail
    lost.write_bytes(content)
    ended = yard.run(REWRITE, ref)
    assert (ended.results["damaged"], ended.results["files_rewritten"]) == (1, 5)
    stray.unlink()
    ended = yard.run(REWRITE, ref)
    assert (ended.detail, "damaged" in ended.results) == ("", False)
    assert files(yard, ref) == {D22: 1, D23: 1, D24: 1}
    assert yard.rows(ref) == rows


def test_what_others_change_while_it_is_read_is_not_published(
    yard: Yard, ref: DatasetRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, read = version(yard, ref), compaction.read_folders
    root = Path(ref.root(yard.warehouse))

    def late(*args: Any) -> Any:
        found = read(*args)
        next((root / before.partitions[D23].folders[0]).glob("*.parquet")).with_name("a.parquet").touch()
        return found

    monkeypatch.setattr(compaction, "read_folders", late)
    ended = yard.run(REWRITE, ref)
    assert (ended.ending, ended.changed) == (Ending.FAILED, False)
    assert f"others have changed files of '{D23}' while they were read" in ended.detail
    assert version(yard, ref) == before
    assert not list(root.glob("_staging/*/*"))


@pytest.mark.soak  # real processes, killed at more points: TestParquet.test_compaction in test_kills.py
def test_killed_at_each_call_and_after_the_put(
    yard: Yard, ref: DatasetRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slicing, "LEAST_SLICE_BYTES", 1)
    rows = yard.rows(ref)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("tidegate.spark_jobs.commit.publish.finish", _die)
        yard.run(REWRITE, ref)
    assert len(yard.store.list_unfinished()) == 1
    assert yard.rows(ref) == yard.linked(ref) == rows
    call = 0
    while True:
        call += 1
        try:
            ended = yard.run(REWRITE, ref, control=killed_at(call))
        except KeyboardInterrupt:
            assert yard.rows(ref) == yard.linked(ref) == rows
            continue
        break
    assert call >= 4
    assert ended.ending is Ending.SUCCEEDED
    assert files(yard, ref) == {D22: 1, D23: 1, D24: 1}
    assert yard.rows(ref) == yard.linked(ref) == rows
    assert (yard.store.list_unfinished(), len(version(yard, ref).commits())) == ((), 8)


def test_it_makes_room_between_two_commits(
    yard: Yard, ref: DatasetRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slicing, "LEAST_SLICE_BYTES", 1)
    ended = yard.run(REWRITE, ref, control=Steered(yields=3))
    assert (ended.ending, ended.results["commits"]) == (Ending.STOPPED, 1)
    assert files(yard, ref) == {D22: 1, D23: 5, D24: 1}


def test_old_versions_go_and_an_unfinished_commit_keeps_what_it_needs(yard: Yard, ref: DatasetRef) -> None:
    rows = yard.rows(ref)
    yard.run(REWRITE, ref)
    young = yard.run(EXPIRE, ref, retain_last=1)
    assert not young.changed, "all of them are young"
    assert young.results["kept_because"] == {"younger than 5d": 6, "among the last 1": 1}
    staged = output.stage(yard.frame((D22, 5, "z")), ref, (D22,), yard.warehouse, commit="late", token=90)
    put(yard.store, sequence_of("late", 90, [staged]))
    yard.publish(yard.frame((D24, 6, "c")), ref, D24)
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, ref, retain_last=1)
    assert (ended.results["snapshots_expired"], ended.results["folders_deleted"]) == (6, 10)
    assert ended.results["kept"] == {"7": "an unfinished commit; this version and all after it"}
    assert ended.results["kept_because"] == {"among the last 1": 1, ended.results["kept"]["7"]: 1}
    assert ended.results["kept_oldest"] == {"among the last 1": "8", ended.results["kept"]["7"]: "7"}
    assert recover([ref.id], yard.store, yard.context) == ("late",)
    ended = yard.run(EXPIRE, ref, retain_last=1)
    assert (ended.results["snapshots_expired"], ended.after["snapshots"]) == (2, 1)
    assert yard.rows(ref) == yard.linked(ref) == sorted([*rows, (D22, 5, "z"), (D24, 6, "c")])


def test_what_there_is_not_for_parquet(yard: Yard, ref: DatasetRef) -> None:
    for operation in (MANIFESTS, ORPHANS):
        ended = yard.run(operation, ref)
        assert (ended.ending, ended.changed) == (Ending.SUCCEEDED, False)
        assert ended.results["not_applicable"]
    absent = DatasetRef(app=yard.app, name="absent")
    assert yard.run(REWRITE, absent).results["gone"]


def _die(*_: object) -> None:
    raise KeyboardInterrupt
