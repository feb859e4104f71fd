"""What is staged without a table: its list, its folder, and sequences of versions that staged in tables."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.effort import only
from tests.spark_jobs.iceberg.house import D22, D23, DAY, NEVER, House
from tests.spark_jobs.staging import put
from tidegate.domain.model import PartitionScheme, StaticDimension, WriteMode
from tidegate.spark_jobs.commit.recovery import recover
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import CommitFenced, CommitUnknown
from tidegate.spark_jobs.iceberg.catalog.catalog import catalog_of
from tidegate.spark_jobs.iceberg.catalog.table_files import TableFiles
from tidegate.spark_jobs.iceberg.output import DISTRIBUTION, SESSION_DISTRIBUTION, StagedIceberg, table_name
from tidegate.spark_jobs.iceberg.staging.files import FOLDER, LISTED, StagingFolder, staging_folder
from tidegate.spark_jobs.iceberg.staging.names import staging_name
from tidegate.spark_jobs.publication.table import Publication, sequence_of
from tidegate.spark_jobs.repair.orphans import expire_dead_attempts, find_orphans, remove_orphans

pytestmark = pytest.mark.spark

NOW = datetime(2023, 3, 10, 12, 0, tzinfo=UTC)


@pytest.fixture
def house(tmp_path: Path, spark: SparkSession) -> House:
    return House(tmp_path, spark)


def promise(house: House, ref: DatasetRef, commit: str, *rows: tuple[object, ...]) -> StagedIceberg:
    """A commit that is put into the store, of which no step is done, by a process that is gone."""
    token = house.store.begin("other", [], until=NEVER) + 1
    output = house.stage(house.frame(*rows), ref, D22, D23, commit=commit, token=token)
    put(house.store, sequence_of(commit, token, [output]))
    catalog_of(house.spark).staged.clear()
    return output


def test_another_process_publishes_what_the_list_names(house: House) -> None:
    ref = house.ref("append")
    promise(house, ref, "first", (D22, 1, "a"), (D23, 2, None))

    # The table does not exist yet.
    assert recover([ref.id], house.store, house.context) == ("first",)
    assert house.rows(ref) == [(D22, 1, "a"), (D23, 2, None)]
    assert house.staged() == []
    assert house.data_files() == house.live_files()


@pytest.mark.parametrize("write", only(["append", "merge"], "merge"))
def test_a_publish_makes_the_folders_of_its_partitions_without_hadoop(house: House, write: WriteMode) -> None:
    """Hadoop starts a process for the permissions of each, which would be those of its own settings."""
    codes = ("007", "a b.c:d", "x_y-z", "~*%+é\"'")
    scheme = PartitionScheme(time=DAY, static=StaticDimension(name="code", keys=codes))
    ref = house.ref(write, scheme, "t", *(("id",) if write == "merge" else ()))
    columns = "day string, code string, id int"
    house.publish(house.frame((D22, codes[0], 1), columns=columns), ref, f"{codes[0]}|{D22}")
    data = Path(str(house.table().location()).removeprefix("file:")) / "data"
    before, given = {*data.rglob("*")}, data.stat().st_mode
    data.chmod(0o771)
    house.spark.conf.set("spark.sql.adaptive.coalescePartitions.minPartitionNum", "2")
    try:
        rows = house.frame(*((D22, code, 1) for code in codes[1:]), (D23, codes[0], 1), columns=columns)
        house.publish(rows, ref, *(f"{code}|{day}" for code in codes for day in (D22, D23)))
    finally:
        data.chmod(given)
        house.spark.conf.unset("spark.sql.adaptive.coalescePartitions.minPartitionNum")

    new = [path for path in data.rglob("*") if path.is_dir() and path not in before]
    assert {path.stat().st_mode & 0o777 for path in new} == {0o771}
    # Those without rows are removed.
    parts = sorted(len(path.relative_to(data).parts) for path in new)
    assert parts == [1, *[2] * len(codes), *[3] * len(codes)]
    assert len(house.rows(ref)) == len(codes) + 1
    # However few the rows are, they are written by all tasks that work at once.
    assert len({file.name.split("-")[0] for path in new for file in path.glob("*.parquet")}) > 1


@pytest.mark.parametrize("said_by", ["the table", "the session"])
def test_each_partition_has_one_file_also_where_iceberg_moves_no_rows(house: House, said_by: str) -> None:
    """By itself Iceberg brings the rows of a partition together, unless its distribution mode is none."""
    ref, spark = house.ref("overwrite_partitions"), house.spark
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    if said_by == "the table":
        spark.sql(f"ALTER TABLE tidegate.{house.app}.t SET TBLPROPERTIES ('{DISTRIBUTION}' = 'none')")
    else:
        spark.conf.set(SESSION_DISTRIBUTION, "NONE")
    try:
        rows = spark.range(0, 8, 1, 2).selectExpr(
            f"if(id % 2 = 0, '{D22}', '{D23}') AS day", "CAST(id AS int) AS id", "'a' AS value"
        )
        house.publish(rows, ref, D22, D23)
    finally:
        spark.conf.unset(SESSION_DISTRIBUTION)
    assert len(house.live_files()) == 2


def test_an_output_without_rows_is_staged_and_published(house: House) -> None:
    ref = house.ref("overwrite_partitions")
    house.publish(house.frame((D22, 1, "a"), (D23, 2, "b")), ref, D22, D23)
    promise(house, ref, "empties")

    assert recover([ref.id], house.store, house.context) == ("empties",)
    assert house.rows(ref) == []
    assert house.staged() == []


def test_a_list_that_is_damaged_is_an_error_and_loses_nothing(house: House) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "a")), ref, D22)
    output = promise(house, ref, "damaged", (D22, 2, "b"))
    place = Path(str(house.table().location()).removeprefix("file:")) / "data" / FOLDER
    listed = place / f"{output.step.staging}{LISTED}"
    whole = listed.read_bytes()

    listed.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(OSError, match="read the list of staged files"):
        output.step.verify(house.context)
    listed.rename(listed.with_name("aside"))
    with pytest.raises(CommitUnknown, match=rf"the list of its staged files, .+{LISTED}, does not exist"):
        recover([ref.id], house.store, house.context)

    listed.write_bytes(whole)
    assert recover([ref.id], house.store, house.context) == ("damaged",)
    assert house.rows(ref) == [(D22, 1, "a"), (D22, 2, "b")]


@pytest.mark.parametrize("left", only(["begun", "written"], "written"))
def test_a_run_that_died_before_its_list_leaves_nothing(house: House, left: str) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "kept")), ref, D22)
    token = house.store.begin("dies", [ref.id], until=NOW)
    name = staging_name(table_name(ref), "dies", token)
    if left == "written":
        house.stage(house.frame((D22, 2, "dead")), ref, D22, commit="dies", token=token)
        place = Path(str(house.table().location()).removeprefix("file:")) / "data" / FOLDER
        (place / f"{name}{LISTED}").unlink()
    else:
        folder = staging_folder(house.catalog, table_name(ref))
        assert folder is not None
        folder.begin(name, house.table().io())
    assert house.staged() == [name]

    expire_dead_attempts(house.store, NOW)
    found = find_orphans([ref], house.warehouse, house.store, lambda: house.spark)
    assert [(one.token, one.dataset) for one in found] == [(token, ref.id)]
    remove_orphans(found, [ref], house.warehouse, lambda: house.spark)

    assert house.staged() == []
    assert house.data_files() == house.live_files()
    assert house.rows(ref) == [(D22, 1, "kept")]


def test_a_process_that_was_taken_for_dead_removes_what_it_writes_later(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = house.ref("append")
    house.publish(house.frame((D22, 1, "kept")), ref, D22)
    token = house.store.begin("sleeps", [ref.id], until=NOW)
    begin = StagingFolder.begin

    def sleeping(folder: StagingFolder, name: str, io: Any) -> None:
        begin(folder, name, io)
        expire_dead_attempts(house.store, NOW)
        found = find_orphans([ref], house.warehouse, house.store, lambda: house.spark)
        remove_orphans(found, [ref], house.warehouse, lambda: house.spark)
        assert house.staged() == []

    late = Publication(house.warehouse, house.store, commit="sleeps", token=token, spark=lambda: house.spark)
    with monkeypatch.context() as patch:
        patch.setattr(StagingFolder, "begin", sleeping)
        late.stage(house.frame((D22, 2, "late")), ref, (D22,))
    with pytest.raises(CommitFenced):
        late.publish()
    late.discard()

    assert house.data_files() == house.live_files()
    assert house.rows(ref) == [(D22, 1, "kept")]
    assert not list(Path(str(house.table().location()).removeprefix("file:")).glob(f"data/{FOLDER}/*"))


def test_files_of_this_machine_are_seen_as_hadoop_sees_them(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a %20b"
    (folder / "below").mkdir(parents=True)
    for name, size in {"x=%3A": 1, "y z": 2, ".y z.crc": 3, "below/deep": 4, "below/.deep.crc": 5}.items():
        (folder / name).write_bytes(b"-" * size)
    (tmp_path / "link").symlink_to(folder)
    (folder / "linked").symlink_to(folder / "below")
    files, name = catalog_of(house.spark).files, re.compile(r"[a-z].*")

    def seen(scheme: str, path: str) -> tuple[object, ...]:
        place = f"{scheme}{path}"
        return (
            sorted(files.entries_in(place, name)),
            sorted((one, size) for one, size in files.sizes_in(place).items() if one.startswith(("x", "y"))),
            files.count_below(place),
            files.exists(place),
        )

    places = [
        ("", str(folder)),
        ("file:", str(folder)),
        ("file://", f"{tmp_path}/link"),
        ("", f"{folder}/no"),
    ]
    here = [seen(*place) for place in places]
    with monkeypatch.context() as patch:
        patch.setattr(TableFiles, "_local", lambda *_: None)
        by_hadoop = [seen(*place) for place in places]
    assert here == by_hadoop
    assert here[0][1:] == ([("x=%3A", 1), ("y z", 2)], 4, True) and here[3] == ([], [], 0, False)

    files.delete(f"file:{folder}/y z")
    files.delete(f"{folder}/linked")
    assert sorted(path.name for path in folder.rglob("*")) == [".deep.crc", "below", "deep", "x=%3A"]
