"""After a rollback or a restored backup the next incremental run ended well, and skipped the lost rows.

The watermark of a program was moved by a commit. A run that would go on after that commit must find it in its
outputs, whatever has happened to the table; otherwise it stops, with the remedy.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.incremental.test_runs import (
    D22,
    D23,
    DATASETS,
    GATHER,
    LOAD,
    LOAD_FILES,
    House,
    program,
)
from tidegate.domain.model import Program
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
from tidegate.spark_jobs.errors import TableBehind
from tidegate.spark_jobs.parquet import version_log

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

RENAMED = program("load", "landed", "copy")


def root(house: House) -> Path:
    return Path(dataset_ref(house.app, DATASETS["files"]).root(house.warehouse))


def drop(house: House) -> None:
    house.spark.sql(f"DROP TABLE tidegate.{house.app}.lake PURGE")


def roll_back(house: House) -> None:
    first = house.spark.sql(
        f"SELECT snapshot_id FROM tidegate.{house.app}.lake.snapshots ORDER BY committed_at"
    )
    house.spark.sql(f"CALL tidegate.system.set_current_snapshot('{house.app}.lake', {first.collect()[0][0]})")


def empty(house: House) -> None:
    house.spark.sql(f"DELETE FROM tidegate.{house.app}.lake")


def lose_the_newest_version(house: House) -> None:
    sorted((root(house) / "_versions").glob("*.json"))[-1].unlink()


def lose_the_folder(house: House) -> None:
    shutil.rmtree(root(house))


@pytest.mark.parametrize(
    ("load", "happens", "says"),
    [
        (LOAD, drop, "does not list commit last"),
        (LOAD, roll_back, "the table was rolled back"),
        (LOAD, empty, "has no rows any more"),
        (LOAD_FILES, lose_the_newest_version, "does not list commit last"),
        (LOAD_FILES, lose_the_folder, "does not list commit last"),
    ],
)
def test_the_next_run_stops_and_the_run_after_a_reset_reads_again(
    tmp_path: Path, spark: SparkSession, load: Program, happens: Callable[[House], None], says: str
) -> None:
    house = House(tmp_path, spark)
    for number, commit in enumerate(("first", "last")):
        house.land(D22, number)
        house.run(load, D22, commit=commit)
    happens(house)
    house.land(D22, 7)
    before = house.rows(load.writes[0])

    # Also of another day: its watermark is that of the same program.
    for day in (D22, D23):
        with pytest.raises(TableBehind, match=says) as stopped:
            house.run(load, day)
    assert f"tidegate watermarks reset {house.app}/{load.name} {house.app}/landed" in stopped.value.hint
    assert "renamed_from" in stopped.value.hint
    assert (house.rows(load.writes[0]), house.marks(load)) == (before, {D22: 2})


def test_a_table_that_has_forgotten_old_publishes_is_not_lost(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version_log, "RECENT_COMMITS", 3)
    house = House(tmp_path, spark)
    house.land(D22, 1)
    house.run(LOAD_FILES, D22)
    for number in range(4):
        house.land(D23, number)
        house.run(LOAD_FILES, D23)
    house.land(D22, 2)
    house.run(LOAD_FILES, D22)
    assert [row for row in house.rows("files") if row[1] == D22] == [(1, D22), (2, D22)]
    lose_the_newest_version(house)
    with pytest.raises(TableBehind, match="does not list commit"):
        house.run(LOAD_FILES, D22)


def test_a_renamed_output_does_not_begin_in_the_middle(tmp_path: Path, spark: SparkSession) -> None:
    house = House(tmp_path, spark)
    house.land(D22, 1)
    house.run(LOAD, D22)
    house.land(D22, 2)
    with pytest.raises(
        TableBehind, match=r"they are in lake, and .*/copy has never been published into"
    ) as no:
        house.run(RENAMED, D22)
    assert "renamed_from" in no.value.hint
    assert house.rows("copy") == []


def test_a_program_that_follows_a_table_stops_when_its_own_output_is_gone(
    tmp_path: Path, spark: SparkSession
) -> None:
    house = House(tmp_path, spark)
    house.land(D22, 1)
    house.run(LOAD, D22)
    house.run(GATHER)
    house.spark.sql(f"DROP TABLE tidegate.{house.app}.all PURGE")
    with pytest.raises(TableBehind, match=r"/gather in .*/lake: it is at"):
        house.run(GATHER)
