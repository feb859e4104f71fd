"""Removal of orphan files: nothing young, nothing staged, nothing that a snapshot has."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.effort import every, pick
from tests.spark_jobs.iceberg.house import D22, D23
from tests.spark_jobs.maintenance.yard import DAY, ORPHANS, Steered, Yard, killed_at
from tests.spark_jobs.staging import put
from tidegate.domain.maintenance.reported import Ending
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.maintenance.iceberg import remove_orphan_files
from tidegate.spark_jobs.publication.table import sequence_of

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

OLD, YOUNG = 4 * DAY, 2 * DAY


def root(yard: Yard) -> Path:
    return Path(str(yard.table().location()).removeprefix("file:"))


def left_behind(file: Path, age: int) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"of no snapshot")
    aged(file, age)
    return file


def aged(file: Path | str, age: int = OLD) -> None:
    time = Path(file).stat().st_mtime - age
    os.utime(file, (time, time))


def age_all(yard: Yard) -> None:
    for file in root(yard).rglob("*"):
        if file.is_file():
            aged(file)


def test_old_orphans_go_and_young_ones_stay(yard: Yard) -> None:
    yard.make()
    yard.insert((D22, 1), (D23, 2))
    age_all(yard)
    old = [left_behind(root(yard) / "data" / f"day={D22}" / f"{n}.parquet", OLD) for n in range(3)]
    old.append(left_behind(root(yard) / "metadata" / "lost-m0.avro", OLD))
    young = left_behind(root(yard) / "data" / "young.parquet", YOUNG)
    rows = yard.all_rows()
    ended = yard.run(ORPHANS)
    assert (ended.ending, ended.detail) == (Ending.SUCCEEDED, "")
    assert (ended.changed, ended.results["orphan_files_removed"]) == (True, 4)
    assert sorted(ended.results["removed"]) == sorted(f"file:{file}" for file in old)
    assert [file.exists() for file in (*old, young)] == [False] * 4 + [True]
    assert yard.all_rows() == rows
    assert yard.run(ORPHANS, older_than=DAY).results["orphan_files_removed"] == 1
    assert not yard.run(ORPHANS, older_than=DAY).changed
    assert yard.run(ORPHANS, older_than=DAY - 1).detail.startswith("older_than is 86399 s")


def test_what_a_run_has_staged_stays_and_what_is_left_in_published_folders_goes(yard: Yard) -> None:
    ref = yard.ref("append")
    yard.publish(yard.frame((D22, 1, "a")), ref, D22)
    staged = yard.stage(yard.frame((D22, 2, "b"), (D23, 3, "c")), ref, D22, D23, commit="late", token=9)
    put(yard.store, sequence_of("late", 9, [staged]))
    waiting = yard.data_files() - yard.live_files()
    assert len(waiting) == 2
    # An expiry that died has left it: no snapshot has it any more.
    lost = left_behind(Path(next(iter(yard.live_files()))).with_name("expired.parquet"), OLD)
    hidden = left_behind(root(yard) / "data" / "_private" / "note.parquet", OLD)
    age_all(yard)
    ended = yard.run(ORPHANS, ref)
    assert (ended.ending, ended.results["removed"]) == (Ending.SUCCEEDED, [f"file:{lost}"])
    assert not lost.exists()
    assert hidden.exists(), "what is hidden and not ours is not looked at"
    assert yard.data_files() >= waiting
    assert recover([ref.id], yard.store, yard.context) == ("late",)
    age_all(yard)
    assert not yard.run(ORPHANS, ref).changed
    assert [row[1] for row in yard.all_rows()] == [1, 2, 3]


@pytest.mark.parametrize(
    "first", pick([True, False], 1), ids=["before it is looked for", "before the table is read"]
)
def test_what_another_process_publishes_meanwhile_stays(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    ref, look = yard.ref("append"), remove_orphan_files.unpublished
    yard.publish(yard.frame((D22, 1, "a")), ref, D22)
    staged = yard.stage(yard.frame((D22, 2, "b"), (D23, 3, "c")), ref, D22, D23, commit="late", token=9)
    put(yard.store, sequence_of("late", 9, [staged]))
    age_all(yard)

    def late(*args: Any) -> frozenset[str]:
        waiting = frozenset[str]() if first else look(*args)
        assert recover([ref.id], yard.store, yard.context) == ("late",)
        return look(*args) if first else waiting

    monkeypatch.setattr(remove_orphan_files, "unpublished", late)
    ended = yard.run(ORPHANS, ref)
    assert (ended.ending, ended.detail, ended.changed) == (Ending.SUCCEEDED, "", False)
    assert [row[1] for row in yard.all_rows()] == [1, 2, 3]


def test_killed_at_each_call_the_next_run_goes_on(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remove_orphan_files, "LOT_FILES", 1)
    yard.make(cut="")
    yard.insert((D22, 1))
    orphans = [left_behind(root(yard) / "data" / f"{n}.parquet", OLD) for n in range(3)]
    rows, call = yard.all_rows(), 1 - every(2)
    while True:
        # A pause asks twice, and nothing happens between its questions.
        call += every(2)
        try:
            ended = yard.run(ORPHANS, control=killed_at(call))
        except KeyboardInterrupt:
            assert yard.all_rows() == rows
            continue
        break
    assert ended.ending is Ending.SUCCEEDED
    assert call >= 7
    assert not any(file.exists() for file in orphans)
    left_behind(orphans[0], OLD)
    left_behind(orphans[1], OLD)
    ended = yard.run(ORPHANS, control=Steered(yields=3))
    assert (ended.ending, ended.results["orphan_files_removed"]) == (Ending.STOPPED, 1)
