"""What others do to an Iceberg table between the put of a commit and its last step, or after it."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.effort import only, pick
from tests.spark_jobs.iceberg.house import D22, D23, NEVER, House
from tests.spark_jobs.staging import put
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.commit.step import Verdict
from tidegate.spark_jobs.errors import CommitUnknown
from tidegate.spark_jobs.iceberg.catalog.catalog import IcebergCatalog
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.format import IcebergFormat
from tidegate.spark_jobs.iceberg.steps.publish_iceberg import PublishIceberg
from tidegate.spark_jobs.publication.table import read, sequence_of

pytestmark = pytest.mark.spark

FORMAT = IcebergFormat()


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession) -> House:
    return House(tmp_path, spark)


def staged(house: House, *rows: tuple[object, ...], commit: str = "late") -> PublishIceberg:
    """A commit that is put into the store, of which no step is done."""
    ref = house.ref("append")
    token = house.store.begin("other", [], until=NEVER) + 1
    output = house.stage(house.frame(*rows), ref, D22, D23, commit=commit, token=token)
    put(house.store, sequence_of(commit, token, [output]))
    return output.version_step()


def alter(house: House, *changes: str) -> None:
    for change in changes:
        house.spark.sql(f"ALTER TABLE tidegate.{house.app}.t {change}")


def test_a_column_that_is_dropped_and_added_again_keeps_the_values_of_the_waiting_rows(house: House) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    staged(house, (D22, 2, "b"))
    alter(house, "DROP COLUMN value", "ADD COLUMN value string")

    recover([ref.id], house.store, house.context)

    assert house.rows(ref) == [(D22, 1, None), (D22, 2, "b")]
    assert house.data_files() == house.live_files()


@pytest.mark.soak  # test_what_others_do.py has these rows
@pytest.mark.parametrize(
    ("change", "after"),
    [
        ("DROP COLUMN value", [(D22, 1, None), (D22, 2, "b")]),
        ("RENAME COLUMN value TO word", [(D22, 1, "a"), (D22, 2, "b")]),
    ],
)
def test_a_column_of_the_waiting_rows_is_added_again_or_keeps_its_new_name(
    house: House, change: str, after: list[tuple[object, ...]]
) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    staged(house, (D22, 2, "b"))
    alter(house, change)

    recover([ref.id], house.store, house.context)

    assert house.rows(ref) == after


def test_a_table_that_another_driver_creates_between_two_looks_of_iceberg_is_written(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Iceberg looks for a new table twice, and has an error of another class for the second look."""
    ref = house.ref("append")
    waiting = staged(house, (D22, 2, "b"))
    table, draft, tries = IcebergCatalog.table, IcebergCatalog._draft, 0

    def not_yet(catalog: IcebergCatalog, name: tuple[str, str]) -> Any | None:
        return None if name == waiting.table and tries == 0 else table(catalog, name)

    def overtaken(catalog: IcebergCatalog, name: tuple[str, str], *rest: Any) -> Any:
        nonlocal tries
        tries += 1
        begun = draft(catalog, name, *rest)
        with monkeypatch.context() as undone:
            undone.setattr(IcebergCatalog, "table", table)
            undone.setattr(IcebergCatalog, "_draft", draft)
            house.publish(house.frame((D22, 1, "a")), ref, D22)
        with java_failures("plan"):
            # What Iceberg itself calls after its first look.
            return catalog.java.org.apache.iceberg.Transactions.createTableTransaction(
                str(begun.table().name()), begun.underlyingOps(), begun.currentMetadata()
            )

    monkeypatch.setattr(IcebergCatalog, "table", not_yet)
    monkeypatch.setattr(IcebergCatalog, "_draft", overtaken)
    waiting.execute(house.context)

    assert tries == 1
    assert house.rows(ref) == [(D22, 1, "a"), (D22, 2, "b")]


@pytest.mark.parametrize("harm", only(["lost", "cut"], "cut"))
def test_a_staged_file_that_is_lost_or_cut_is_never_published(house: House, harm: str) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    step = staged(house, (D22, 2, "b"), (D23, 3, "c"))
    file = Path(sorted(house.data_files() - house.live_files())[0])
    whole = file.read_bytes()
    file.unlink() if harm == "lost" else file.write_bytes(whole[:-1])

    with pytest.raises(
        CommitUnknown, match=r"1 of its staged data files do not exist or have another length"
    ):
        recover([ref.id], house.store, house.context)
    step.execute(house.context)

    assert house.rows(ref) == [(D22, 1, "a")]
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    file.write_bytes(whole)
    recover([ref.id], house.store, house.context)
    assert [row.id for row in house.rows(ref)] == [1, 2, 3]


def test_a_table_that_was_dropped_and_created_again_took_the_staged_files_along(house: House) -> None:
    ref = house.ref("append")
    house.spark.sql(f"CREATE NAMESPACE tidegate.{house.app}")
    create = f"CREATE TABLE tidegate.{house.app}.t (day string, id int, value string) PARTITIONED BY (day)"
    house.spark.sql(create)
    staged(house, (D22, 2, "b"))
    house.spark.sql(f"DROP TABLE tidegate.{house.app}.t PURGE")
    house.spark.sql(create)

    with pytest.raises(CommitUnknown, match="staged data files do not exist"):
        recover([ref.id], house.store, house.context)


@pytest.mark.soak  # so does test_what_others_do.py
def test_fsck_reports_the_lost_files_of_the_newest_snapshot(house: House) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a"), (D23, 2, "b")), ref, D22, D23)
    assert FORMAT.report(ref, house.warehouse, lambda: house.spark).missing == ()
    file = next(file for file in house.live_files() if D23 in file)
    Path(file).unlink()

    (missing,) = FORMAT.report(ref, house.warehouse, lambda: house.spark).missing

    assert missing.key == f"day={D23}"
    assert "refers to 1 files that do not exist or have another length" in missing.what
    assert file in missing.what


def test_a_publish_that_was_rolled_back_is_not_done(house: House) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    first = house.table().currentSnapshot().snapshotId()
    step = staged(house, (D22, 2, "b"))
    step.execute(house.context)
    second = house.table().currentSnapshot().snapshotId()
    assert step.verify(house.context).verdict is Verdict.DONE
    assert FORMAT.withdrawn(ref, house.warehouse, ["c1", "late"], lambda: house.spark) == {}

    house.maintain(f"rollback_to_snapshot(snapshot_id => {first})")

    with pytest.raises(CommitUnknown, match=f"snapshot {second} of commit late is not an ancestor"):
        recover([ref.id], house.store, house.context)
    assert list(FORMAT.withdrawn(ref, house.warehouse, ["c1", "late"], lambda: house.spark)) == ["late"]
    house.maintain(f"set_current_snapshot(snapshot_id => {second})")
    assert recover([ref.id], house.store, house.context) == ("late",)
    assert [row.id for row in house.rows(ref)] == [1, 2]


def test_a_publish_that_was_rolled_back_and_whose_snapshot_expired_is_not_done(house: House) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    first = house.table().currentSnapshot().snapshotId()
    step = staged(house, (D22, 2, "b"))
    step.execute(house.context)
    house.maintain(f"rollback_to_snapshot(snapshot_id => {first})")
    for number in (7, 8):
        house.spark.sql(f"INSERT INTO tidegate.{house.app}.t VALUES ('{D22}', {number}, 'x')")
    house.expire()

    assert step.verify(house.context).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("exists", pick([True, False], 1))
def test_a_table_refuses_an_abandoned_commit_also_of_a_driver_that_sleeps_before_its_swap(
    house: House, monkeypatch: pytest.MonkeyPatch, exists: bool
) -> None:
    ref = house.ref("append")
    if exists:
        house.publish(house.frame((D22, 1, "a")), ref, D22)
    step = staged(house, (D22, 2, "b"))
    real = IcebergCatalog.swap

    def sleeping(catalog: IcebergCatalog, name: Any, operations: Any, read: Any, made: Any) -> None:
        monkeypatch.undo()
        step.refuse(house.context)
        real(catalog, name, operations, read, made)

    monkeypatch.setattr(IcebergCatalog, "swap", sleeping)
    step.execute(house.context)

    assert "refuses the commit, because it was abandoned" in step.verify(house.context).reason
    assert (read(house.spark, ref, house.warehouse) is None) is not exists
    house.publish(house.frame((D22, 3, "c")), ref, D22)
    assert [row.id for row in house.rows(ref)] == ([1, 3] if exists else [3])
