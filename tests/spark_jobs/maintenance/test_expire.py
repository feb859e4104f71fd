"""Expiry of snapshots in real Iceberg tables: what is old goes, what is needed stays and is named."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.spark_jobs.iceberg.house import D22
from tests.spark_jobs.maintenance.yard import (
    DAY,
    EXPIRE,
    REWRITE,
    Later,
    Stopped,
    Yard,
    killed_at,
)
from tests.spark_jobs.staging import put
from tidegate.domain.maintenance.reported import Ending
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.publication.table import sequence_of

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]


def fill(yard: Yard, commits: int = 6) -> list[int]:
    """A table without partitions. Returns its snapshots, the oldest first."""
    yard.make(cut="")
    for number in range(commits):
        yard.insert((D22, number))
    return ids(yard)


def ids(yard: Yard) -> list[int]:
    return [
        int(one.snapshotId())
        for one in sorted(each(yard.table().snapshots()), key=lambda s: s.timestampMillis())
    ]


def test_what_is_old_goes_and_the_last_ones_stay(yard: Yard) -> None:
    snapshots, rows = fill(yard), yard.all_rows()
    young = yard.run(EXPIRE, older_than=DAY, retain_last=2)
    assert not young.changed, "all of them are young"
    assert young.results["kept_because"] == {"younger than 1d": 4, "among the last 2": 2}
    assert young.results["kept_oldest"]["younger than 1d"] == str(snapshots[0])

    yard.clock = Later(8)
    ended = yard.run(EXPIRE, retain_last=3)
    assert (ended.ending, ended.detail, ended.changed) == (Ending.SUCCEEDED, "", True)
    assert ids(yard) == snapshots[-3:]
    assert (ended.before["snapshots"], ended.after["snapshots"]) == (6, 3)
    assert ended.results["snapshots_expired"] == 3
    assert ended.results["manifests_deleted"] == 3, "the lists of manifests; their manifests are still used"
    assert ended.results["kept"] == {}
    assert ended.results["kept_because"] == {"among the last 3": 3}
    assert ended.results["kept_oldest"] == {"among the last 3": str(snapshots[3])}
    assert not yard.run(EXPIRE, retain_last=3).changed
    assert yard.all_rows() == rows


def test_files_that_only_old_snapshots_have_are_deleted_after_kills_at_each_call(yard: Yard) -> None:
    fill(yard)
    rows = yard.all_rows()
    yard.run(REWRITE)
    yard.clock = Later(8)
    for call in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            yard.run(EXPIRE, retain_last=1, control=killed_at(call))
        assert (yard.snapshots(), yard.all_rows()) == (7, rows)
    ended = yard.run(EXPIRE, retain_last=1, control=killed_at(3))
    assert (ended.ending, yard.snapshots()) == (Ending.SUCCEEDED, 1)
    assert (ended.results["snapshots_expired"], ended.results["data_files_deleted"]) == (6, 6)
    assert yard.data_files() == yard.live_files()
    assert yard.all_rows() == rows


def test_the_state_of_the_last_days_can_be_read(yard: Yard) -> None:
    """A snapshot is as old as the time since it was current, not as its own commit."""
    first, second, third = fill(yard, 3)
    times = {int(one.snapshotId()): int(one.timestampMillis()) for one in each(yard.table().snapshots())}
    middle = datetime.fromtimestamp((times[second] + times[third]) / 2000, UTC)
    yard.clock = Stopped(middle + timedelta(days=3))
    yard.run(EXPIRE, retain_last=1, older_than=3 * DAY)
    assert ids(yard) == [second, third], "the second one was current then"
    assert first not in ids(yard)


def test_tags_and_branches_stay(yard: Yard) -> None:
    snapshots = fill(yard)
    yard.sql(
        f"ALTER TABLE {yard.full_name} CREATE TAG audit AS OF VERSION {snapshots[1]}",
        f"ALTER TABLE {yard.full_name} CREATE BRANCH side AS OF VERSION {snapshots[2]}",
    )
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, retain_last=1)
    assert ids(yard) == [*snapshots[1:3], snapshots[5]]
    assert ended.results["kept"] == {str(snapshots[1]): "the tag audit"}
    assert ended.results["snapshots_kept"] == 1, "the head of a branch is among its last ones anyway"
    assert ended.results["kept_because"] == {"the tag audit": 1, "among the last 1": 2}


def test_an_unfinished_commit_keeps_all_since_its_run_began(yard: Yard) -> None:
    ref = yard.ref("overwrite_partitions")
    for number in range(2):
        yard.publish(yard.frame((D22, number, "a")), ref, D22)
    staged = yard.stage(yard.frame((D22, 9, "z")), ref, D22, commit="late", token=90)
    put(yard.store, sequence_of("late", 90, [staged]))
    begun = ids(yard)[-1]
    yard.insert(("2013-12-23", 1))
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, ref, retain_last=1)
    assert ended.results["kept"] == {str(begun): "the unfinished commit late"}
    assert ids(yard)[0] == begun
    assert recover([ref.id], yard.store, yard.context) == ("late",)
    assert [row[:2] for row in yard.all_rows()] == [(D22, 9), ("2013-12-23", 1)]
    assert yard.run(EXPIRE, ref, retain_last=1).results["kept"] == {}
    assert yard.snapshots() == 1


def test_a_branch_with_an_expiry_of_its_own_takes_nothing_that_is_needed(yard: Yard) -> None:
    ref = yard.ref("overwrite_partitions")
    for number in range(3):
        if number == 2:
            staged = yard.stage(yard.frame((D22, 9, "z")), ref, D22, commit="late", token=90)
            put(yard.store, sequence_of("late", 90, [staged]))
        yard.publish(yard.frame((D22, number, "a")), yard.ref("append"), D22)
    snapshots = ids(yard)
    yard.table().manageSnapshots().setMaxSnapshotAgeMs("main", 1).setMinSnapshotsToKeep("main", 1).commit()
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, ref, retain_last=1)
    assert (ended.ending, ended.changed) == (Ending.FAILED, False)
    assert f"would take snapshot {snapshots[1]}, kept for: the unfinished commit late" in ended.detail
    assert ids(yard) == snapshots


def test_a_table_whose_files_may_belong_to_others_is_left_alone(yard: Yard) -> None:
    fill(yard, 2)
    yard.sql("ALTER TABLE T SET TBLPROPERTIES ('gc.enabled' = 'false')")
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, retain_last=1)
    assert (ended.ending, ended.changed) == (Ending.SUCCEEDED, False)
    assert ended.results["not_applicable"] == "gc.enabled of the table is false"
