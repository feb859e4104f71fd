"""Other writers than Tidegate change an Iceberg table while a run computes what replaces its rows.

Their rows are not lost: the run ends with a conflict and has changed nothing. Its next attempt, with the same
commit id, begins with the table as it is then. Maintenance changes no row and is not in the way.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.effort import only, pick
from tests.spark_jobs.commit.notes import NOON
from tests.spark_jobs.shared_table import COPY_TWICE, COUNT, D22, D23, MEANWHILE, Shared
from tidegate.domain.model import WriteMode
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.errors import CommitConflict, CommitUnknown
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog, TableName, catalog_of
from tidegate.spark_jobs.iceberg.publish import publisher
from tidegate.spark_jobs.iceberg.staging.merge import MergedFiles
from tidegate.spark_jobs.iceberg.steps.publish_iceberg import PublishIceberg
from tidegate.spark_jobs.repair.orphans import find_orphans, remove_orphans

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

INSERT = f"INSERT INTO T VALUES ('{D22}', 7, 70)"
UPDATE = "UPDATE T SET value = 19 WHERE id = 1"
DELETE = "DELETE FROM T WHERE id = 1"
COMPACT = "rewrite_data_files(options => map('rewrite-all', 'true'))"

Make = Callable[..., Shared]


@pytest.fixture
def make(tmp_path: Path, spark: SparkSession) -> Make:
    return lambda write, **settings: Shared(tmp_path, spark, write, **settings)


def begun(shared: Shared) -> Shared:
    """Publishes a first row, and feeds a second value of it."""
    shared.feed((D22, 1, 10))
    shared.run()
    shared.feed((D22, 1, 11))
    return shared


@pytest.mark.parametrize(
    ("write", "statement"),
    # Of a merge: what others delete, below. Of partitions: even if its snapshot has expired.
    only([("merge", UPDATE), ("overwrite_partitions", INSERT), ("full", UPDATE)], ("full", UPDATE)),
)
def test_what_others_write_during_a_run_makes_it_a_conflict(
    make: Make, write: WriteMode, statement: str
) -> None:
    shared = begun(make(write))
    MEANWHILE.append(lambda: shared.sql(statement))
    message = shared.refused("slow")
    assert "which Tidegate has not written, has changed" in message
    theirs = [(D22, 1, 10), (D22, 7, 70)] if statement is INSERT else [(D22, 1, 19)]
    assert shared.rows() == theirs
    assert (shared.store.attempts(), shared.staged()) == ((), [])

    shared.run(commit="slow")
    kept = theirs[1:] if write == "merge" else []
    assert shared.rows() == [(D22, 1, 11), *kept]


def test_what_others_delete_is_a_conflict_and_what_they_do_elsewhere_is_not(make: Make) -> None:
    shared = begun(make("merge"))
    MEANWHILE.append(lambda: shared.sql(DELETE))
    assert "(delete)" in shared.refused("slow")
    MEANWHILE.append(lambda: shared.sql(INSERT.replace(D22, D23)))
    shared.run(commit="slow")
    assert shared.rows() == [(D22, 1, 11), (D23, 7, 70)]


def test_a_program_that_reads_its_table_counts_what_others_wrote(make: Make) -> None:
    shared = make("overwrite_partitions")
    shared.run(COUNT)
    MEANWHILE.append(lambda: shared.sql(INSERT))
    shared.refused("slow", COUNT)
    shared.run(COUNT, commit="slow")
    assert shared.rows() == [(D22, 1, 2), (D22, 7, 71)]


@pytest.mark.soak  # of our operations: maintenance/test_pipelines.py
@pytest.mark.parametrize("write", pick(["overwrite_partitions", "merge"], 1))
def test_maintenance_during_a_run_is_not_a_conflict(make: Make, write: WriteMode) -> None:
    shared = begun(make(write))
    shared.sql(INSERT)
    shared.feed((D22, 1, 12))

    def maintain() -> None:
        shared.maintain(COMPACT, "rewrite_manifests()")
        shared.expire()

    MEANWHILE.append(maintain)
    shared.run()
    assert (D22, 1, 12) in shared.rows()
    assert len(shared.rows()) == (2 if write == "merge" else 1)


def test_what_others_wrote_is_a_conflict_even_if_its_snapshot_has_expired(make: Make) -> None:
    shared = begun(make("overwrite_partitions"))

    def insert() -> None:
        shared.sql(INSERT)
        shared.maintain(COMPACT)
        shared.expire()

    MEANWHILE.append(insert)
    assert "which Tidegate has not written" in shared.refused("slow")
    assert shared.rows() == [(D22, 1, 10), (D22, 7, 70)]


def test_a_rollback_during_a_run_is_a_conflict(make: Make) -> None:
    shared = begun(make("overwrite_partitions"))
    shared.run()
    first = next(iter(catalog_of(shared.spark).table(shared.ref.place).snapshots()))
    MEANWHILE.append(lambda: shared.maintain(f"rollback_to_snapshot(snapshot_id => {first.snapshotId()})"))
    assert "it is not known which snapshots" in shared.refused("slow")
    assert shared.rows() == [(D22, 1, 10)]
    shared.run(commit="slow")
    assert shared.rows() == [(D22, 1, 11)]


def test_replace_publishes_over_the_changes_of_others(make: Make) -> None:
    shared = begun(make("merge", on_foreign="replace"))
    MEANWHILE.append(lambda: shared.sql(UPDATE))
    shared.run()
    assert shared.rows() == [(D22, 1, 11)]


def test_a_sequence_that_was_put_before_others_wrote_is_withdrawn_and_done_again(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = begun(make("overwrite_partitions"))
    put_and_die(shared, monkeypatch, "slow")
    shared.sql(INSERT)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        # The process that withdraws it dies when the table refuses it and the store still has it.
        patch.setattr(shared.store, "abandon", die)
        recover([shared.ref.id], shared.store, shared.context)
    assert shared.store.list_unfinished() == ("slow",)

    assert recover([shared.ref.id], shared.store, shared.context) == ()
    assert (shared.store.list_unfinished(), shared.store.was_abandoned("slow")) == ((), True)
    assert shared.staged() == []
    assert shared.rows() == [(D22, 1, 10), (D22, 7, 70)]
    shared.run(commit="slow")
    assert shared.rows() == [(D22, 1, 11)]


@pytest.mark.parametrize("other", ["overwrite_partitions", "append"])
def test_of_two_outputs_none_is_published_twice(
    make: Make, other: WriteMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The conflict comes after the first of two tables is published; an append is never that first one."""
    shared = begun(make("overwrite_partitions", other=other))
    steps = list[str]()
    execute = PublishIceberg.execute

    def late(step: PublishIceberg, context: object) -> None:
        steps.append(step.table[1])
        if step.table == shared.ref.place:
            shared.sql(INSERT)
        execute(step, context)  # pyright: ignore[reportArgumentType] -- the context of the real call

    with monkeypatch.context() as patch, pytest.raises(CommitConflict):
        patch.setattr(PublishIceberg, "execute", late)
        shared.run(COPY_TWICE, commit="slow")
    assert steps == (["table"] if other == "append" else ["other", "table"])

    shared.run(COPY_TWICE, commit="slow")
    assert (shared.rows(), shared.rows("other")) == ([(D22, 1, 11)], [(D22, 1, 11)])


def test_a_part_that_would_be_published_twice_stops_the_commit(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = begun(make("overwrite_partitions"))
    monkeypatch.setattr(PublishIceberg, "repeatable", False)
    execute = PublishIceberg.execute

    def late(step: PublishIceberg, context: object) -> None:
        execute(step, context)  # pyright: ignore[reportArgumentType] -- the context of the real call
        if step.table != shared.ref.place:
            shared.sql(INSERT)

    with pytest.raises(CommitUnknown, match="the work cannot be repeated"):
        monkeypatch.setattr(PublishIceberg, "execute", late)
        shared.run(COPY_TWICE, commit="slow")
    assert shared.store.list_unfinished() == ("slow",)
    assert shared.rows() == [(D22, 1, 10), (D22, 7, 70)]


def test_a_merge_gets_through_beside_a_writer_that_is_busy_in_other_partitions(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = make("merge")
    shared.feed((D22, 1, 10), (D22, 2, 20))
    shared.run()
    shared.feed((D22, 1, 11))
    merges = counted_merges(monkeypatch)
    elsewhere = INSERT.replace(D22, D23)
    before_swaps(monkeypatch, shared, *(lambda: shared.sql(elsewhere) for _ in range(3)))
    shared.run()
    assert shared.rows() == [(D22, 1, 11), (D22, 2, 20), *[(D23, 7, 70)] * 3]
    assert (len(merges), shared.staged()) == (1, [])

    # A compaction of the merged partition removes the files that were merged.
    shared.feed((D22, 1, 12))
    before_swaps(monkeypatch, shared, lambda: shared.maintain(COMPACT))
    shared.run()
    assert shared.rows()[:2] == [(D22, 1, 12), (D22, 2, 20)]
    assert (len(merges), shared.staged()) == (3, [])


def test_fsck_finds_and_removes_what_a_merge_has_written_that_was_killed(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = make("merge")
    shared.feed((D22, 1, 10), (D22, 2, 20))
    shared.run()
    shared.feed((D22, 1, 11))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        before_swaps(patch, shared, die)
        shared.run(commit="killed")
    assert len(shared.staged()) == 2
    assert shared.store.abandon("killed", "by hand", NOON)
    orphans = find_orphans([shared.ref], shared.warehouse, shared.store, shared.context.spark)
    assert {orphan.table for orphan in orphans} == set(shared.staged())
    remove_orphans(orphans, [shared.ref], shared.warehouse, shared.context.spark)
    assert shared.staged() == []
    assert shared.rows() == [(D22, 1, 10), (D22, 2, 20)]


def counted_merges(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Records each computation of a merge."""
    calls, real = list[str](), publisher.merge_files

    def merge(*args: Any) -> MergedFiles:
        calls.append(args[-1])
        return real(*args)

    monkeypatch.setattr(publisher, "merge_files", merge)
    return calls


def before_swaps(monkeypatch: pytest.MonkeyPatch, shared: Shared, *works: Callable[[], object]) -> None:
    """Does one of the works each time that a publish has computed all and is about to change the table."""
    left, swap = list(works), IcebergCatalog.swap

    def late(catalog: IcebergCatalog, name: TableName, *made: Any) -> None:
        if name == shared.ref.place and left:
            left.pop(0)()
        swap(catalog, name, *made)

    monkeypatch.setattr(IcebergCatalog, "swap", late)


def put_and_die(shared: Shared, monkeypatch: pytest.MonkeyPatch, commit: str) -> None:
    """Runs until the sequence is put, and not a step further."""
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("tidegate.spark_jobs.commit.publish.finish", die)
        shared.run(commit=commit)


def die(*_: object) -> None:
    raise KeyboardInterrupt
