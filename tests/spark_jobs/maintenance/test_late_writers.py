"""A writer commits after an operation has planned and before it commits: nothing of both is lost."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.effort import only
from tests.spark_jobs.iceberg.house import D22, D23
from tests.spark_jobs.maintenance.yard import EXPIRE, MANIFESTS, Later, Yard
from tests.spark_jobs.without_spark import plain_table
from tidegate.domain.maintenance.reported import Ending
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.maintenance.iceberg import expire_snapshots
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

Writes = Callable[..., None]
"""Is given the works of a writer, each of which is done at one try of the operation."""

ROLLBACK = "rollback_to_snapshot(snapshot_id => {})"
COMPACT = "rewrite_data_files(options => map('rewrite-all', 'true'))"


MOMENTS = ("after_reading", "before_commits")


@pytest.fixture
def before_commits(monkeypatch: pytest.MonkeyPatch) -> Writes:
    """The writer is there when the operation is about to commit."""
    left, exclusive = list[Callable[[], object]](), CatalogTable.exclusive

    @contextmanager
    def late(table: CatalogTable) -> Iterator[None]:
        if left:
            left.pop(0)()
        with exclusive(table):
            yield

    monkeypatch.setattr(CatalogTable, "exclusive", late)
    return lambda *works: left.extend(works)


@pytest.fixture
def after_reading(monkeypatch: pytest.MonkeyPatch) -> Writes:
    """The writer is there when an expiry has read the snapshots."""
    left, read = list[Callable[[], object]](), expire_snapshots.read_snapshots

    def late(java: Any) -> Any:
        found = read(java)
        if left:
            left.pop(0)()
        return found

    monkeypatch.setattr(expire_snapshots, "read_snapshots", late)
    return lambda *works: left.extend(works)


def fill(yard: Yard, commits: int = 4) -> list[int]:
    """A file in each of two days for each commit. Returns the snapshots, the oldest first."""
    yard.make()
    for number in range(commits):
        yard.insert((D22, number), (D23, number))
    return snapshots_of(yard)


def snapshots_of(yard: Yard) -> list[int]:
    """The snapshots of the table, the oldest first."""
    found = sorted(each(yard.table().snapshots()), key=lambda one: one.timestampMillis())
    return [int(one.snapshotId()) for one in found]


def ids(yard: Yard) -> list[int]:
    """The snapshots of the table, each of which can be read: its files are there."""
    found, state = snapshots_of(yard), plain_table(yard.table())
    for one in found:
        state.scan(snapshot_id=one).to_arrow()
    return found


def tag(yard: Yard, snapshot: int) -> None:
    yard.sql(f"ALTER TABLE T CREATE TAG t{snapshot} AS OF VERSION {snapshot}")


# --- rewrite_manifests --------------------------------------------------------------------


def test_manifests_beside_an_append(yard: Yard, before_commits: Writes) -> None:
    fill(yard)
    rows = yard.all_rows()
    before_commits(lambda: yard.insert((D22, 9)))
    ended = yard.run(MANIFESTS)
    assert (ended.ending, ended.results["manifests_rewritten"]) == (Ending.SUCCEEDED, 4)
    assert ended.after["manifests"] == 2
    assert yard.all_rows() == sorted([*rows, (D22, 9, "9")])


def test_manifests_that_a_delete_has_replaced(yard: Yard, before_commits: Writes) -> None:
    fill(yard)
    rows = [row for row in yard.all_rows() if row[0] == D23]
    before_commits(lambda: yard.sql(f"DELETE FROM T WHERE day = '{D22}'"))
    ended = yard.run(MANIFESTS)
    assert (ended.ending, ended.after["manifests"]) == (Ending.SUCCEEDED, 1)
    assert yard.all_rows() == rows


def test_manifests_that_a_rollback_has_taken_back(yard: Yard, before_commits: Writes) -> None:
    snapshots = fill(yard)
    before_commits(lambda: yard.maintain(ROLLBACK.format(snapshots[1])))
    ended = yard.run(MANIFESTS)
    assert (ended.ending, ended.results["manifests_rewritten"]) == (Ending.SUCCEEDED, 2)
    assert sorted(row[1] for row in yard.all_rows()) == [0, 0, 1, 1], "what was rolled back stays so"


@pytest.mark.soak  # the same of an expiry below, of a compaction in test_races.py
def test_manifests_that_others_replace_each_time(yard: Yard, before_commits: Writes) -> None:
    fill(yard)
    rows = yard.all_rows()
    before_commits(*([lambda: yard.maintain(COMPACT)] * 4))
    ended = yard.run(MANIFESTS)
    assert (ended.ending, ended.changed) == (Ending.CONFLICT, False)
    assert "4 times in a row" in ended.detail
    assert yard.all_rows() == rows
    assert yard.run(MANIFESTS).ending is Ending.SUCCEEDED
    assert yard.all_rows() == rows


# --- expire_snapshots ---------------------------------------------------------------------


@pytest.mark.parametrize("when", only(MOMENTS, "after_reading"))
def test_a_snapshot_that_is_tagged_meanwhile_stays(
    yard: Yard, when: str, request: pytest.FixtureRequest
) -> None:
    snapshots, rows = fill(yard), yard.all_rows()
    request.getfixturevalue(when)(lambda: tag(yard, snapshots[1]))
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, retain_last=1)
    assert (ended.ending, ended.detail, ended.results["snapshots_expired"]) == (Ending.SUCCEEDED, "", 2)
    assert ended.results["kept"] == {str(snapshots[1]): f"the tag t{snapshots[1]}"}
    assert ids(yard) == [snapshots[1], snapshots[3]]
    assert yard.all_rows() == rows


def test_a_snapshot_that_a_rollback_makes_the_current_one_stays(yard: Yard, before_commits: Writes) -> None:
    snapshots = fill(yard)
    before_commits(lambda: yard.maintain(ROLLBACK.format(snapshots[1])))
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, retain_last=1)
    assert (ended.ending, ended.detail) == (Ending.SUCCEEDED, "")
    assert ids(yard) == [snapshots[1]], "those that were rolled back are old too"
    assert sorted(row[1] for row in yard.all_rows()) == [0, 0, 1, 1]
    assert yard.data_files() == yard.live_files()


@pytest.mark.parametrize("when", only(MOMENTS, "before_commits"))
def test_what_another_expiry_has_removed_is_no_failure(
    yard: Yard, when: str, request: pytest.FixtureRequest
) -> None:
    snapshots, rows = fill(yard), yard.all_rows()
    request.getfixturevalue(when)(yard.expire)
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, retain_last=1)
    assert (ended.ending, ended.detail, ended.changed) == (Ending.SUCCEEDED, "", False)
    assert (ids(yard), yard.all_rows()) == (snapshots[-1:], rows)


def test_an_append_during_an_expiry_lands(yard: Yard, before_commits: Writes) -> None:
    snapshots, rows = fill(yard), yard.all_rows()
    before_commits(lambda: yard.insert((D22, 9)))
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, retain_last=1)
    assert (ended.ending, ended.results["snapshots_expired"]) == (Ending.SUCCEEDED, 3)
    left = ids(yard)
    assert [left[0], len(left)] == [snapshots[-1], 2]
    assert yard.all_rows() == sorted([*rows, (D22, 9, "9")])


def test_tags_that_come_each_time_are_a_conflict(yard: Yard, before_commits: Writes) -> None:
    snapshots, rows = fill(yard, 6), yard.all_rows()
    before_commits(*(lambda one=one: tag(yard, one) for one in snapshots[:4]))
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, retain_last=1)
    assert (ended.ending, ended.changed) == (Ending.CONFLICT, False)
    assert "4 times in a row" in ended.detail
    assert ids(yard) == snapshots
    assert yard.run(EXPIRE, retain_last=1).results["snapshots_expired"] == 1
    assert yard.all_rows() == rows


def test_what_iceberg_refuses_without_a_race_is_a_failure(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots = fill(yard, 2)
    tag(yard, snapshots[0])
    monkeypatch.setattr(expire_snapshots, "_needed", lambda *_: {})
    monkeypatch.setattr(expire_snapshots, "needed_by_refs", lambda _: {})
    yard.clock = Later(8)
    ended = yard.run(EXPIRE, retain_last=1)
    assert ended.ending is Ending.FAILED
    assert "Still referenced by refs" in ended.detail
    assert ids(yard) == snapshots
