"""The removal of orphan files has deleted a live table, whose folder had moved or lay below another table.

A folder has several names (links, mounts, schemes, slashes), and tables lie in folders of other tables. What
the newest metadata of a table reaches stays, and so does what may belong to another table.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark_jobs.maintenance.test_listing import add_catalog
from tests.spark_jobs.maintenance.yard import DAY, ORPHANS, Yard, activate
from tests.spark_jobs.without_spark import append
from tidegate.domain.maintenance.reported import Ended, Ending
from tidegate.spark_jobs.iceberg.catalog.java_texts import each
from tidegate.spark_jobs.maintenance.iceberg import remove_orphan_files
from tidegate.spark_jobs.maintenance.iceberg.catalog_table import CatalogTable

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]

DAY_1 = "2026-03-01"


class Lake(Yard):
    """Tables in catalogs of a session of its own."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        super().__init__(folder, spark)
        self.folder = folder

    def catalog_at(self, name: str, folder: str, **options: str) -> None:
        add_catalog(self.spark, name, type="hadoop", warehouse=folder, cache_enabled="false", **options)

    def create(self, name: str, *rows: tuple[str, int], properties: str = "'format-version' = '2'") -> None:
        self.spark.sql(
            f"CREATE TABLE {name} (day string, id int, value string) USING iceberg PARTITIONED BY (day) "
            f"TBLPROPERTIES ({properties})"
        )
        self.add(name, *(rows or ((DAY_1, 1),)))

    def add(self, name: str, *rows: tuple[str, int]) -> None:
        table = CatalogTable(self.spark, name)
        append(table.api, table.load(), [{"day": day, "id": id, "value": str(id)} for day, id in rows])

    def ids(self, name: str) -> list[int]:
        return sorted(row.id for row in self.spark.table(name).select("id").collect())

    def age(self) -> None:
        """Everything is a week old."""
        for file in self.folder.rglob("*"):
            if file.is_file() and not file.is_symlink():
                time = file.stat().st_mtime - 7 * DAY
                os.utime(file, (time, time))

    def sweep(self, name: str) -> Ended:
        self.age()
        self.full_name = name
        return self.run(ORPHANS, older_than=DAY)

    def orphan(self, name: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"of no snapshot")
        return file


@pytest.fixture
def lake(tmp_path: Path, spark: SparkSession) -> Iterator[Lake]:
    session = spark.newSession()
    activate(session)
    yield Lake(tmp_path, session)
    activate(spark)


def reached(lake: Lake, name: str) -> list[str]:
    """The files that the newest metadata of a table names, without their schemes."""
    java = CatalogTable(lake.spark, name).load()
    now = java.operations().current()
    found = [now.metadataFileLocation(), *(one.file() for one in each(now.previousFiles()))]
    found += [one.manifestListLocation() for one in each(java.snapshots())]
    found += [row[0] for row in lake.spark.sql(f"SELECT path FROM {name}.all_manifests").collect()]
    found += [row[0] for row in lake.spark.sql(f"SELECT file_path FROM {name}.all_files").collect()]
    return [one.removeprefix("file:") for one in found]


def moved(lake: Lake, *, link: bool = True) -> str:
    """A table that was made in one folder and is written in another; the old place may be a link."""
    old, new = lake.folder / "old", lake.folder / "new"
    lake.catalog_at("before", str(old))
    lake.create("before.db.t", (DAY_1, 1), (DAY_1, 2))
    old.rename(new)
    if link:
        old.symlink_to(new)
    lake.catalog_at("after", str(new))
    if link:
        lake.add("after.db.t", (DAY_1, 3))
    return "after.db.t"


def test_a_moved_folder_with_a_link_at_its_old_place(lake: Lake) -> None:
    name = moved(lake)
    lost = [
        lake.orphan(f"new/db/t/{file}") for file in ("data/day=2026-03-01/lost.parquet", "metadata/lost.avro")
    ]
    files, rows = reached(lake, name), lake.ids(name)
    assert {file.split("/db/")[0] for file in files} == {f"{lake.folder}/old", f"{lake.folder}/new"}
    ended = lake.sweep(name)
    assert [file for file in files if not Path(file).exists()] == []
    assert (ended.ending, ended.results["orphan_files_removed"]) == (Ending.SUCCEEDED, 2)
    assert not any(file.exists() for file in lost)
    assert lake.ids(name) == rows == [1, 2, 3]
    lake.add(name, (DAY_1, 4))
    assert lake.ids(name) == [1, 2, 3, 4]


def test_a_moved_folder_without_a_link_stops_it(lake: Lake) -> None:
    name = moved(lake, link=False)
    (lake.folder / "old/db/t").mkdir(parents=True)
    orphan = lake.orphan("old/db/t/data/lost.parquet")
    ended = lake.sweep(name)
    assert ended.ending is Ending.FAILED
    assert f"{lake.folder}/old/db/t/metadata" in ended.detail
    assert f"{lake.folder}/new/db/t/metadata" in ended.detail
    assert orphan.exists()


def test_a_copy_of_a_table_does_not_sweep_the_table(lake: Lake) -> None:
    lake.catalog_at("lake", f"{lake.folder}/wh")
    lake.create("lake.db.t")
    shutil.copytree(lake.folder / "wh", lake.folder / "copy")
    lake.add("lake.db.t", (DAY_1, 2))
    lake.catalog_at("copy", f"{lake.folder}/copy")
    ended = lake.sweep("copy.db.t")
    assert (ended.ending, ended.changed) == (Ending.FAILED, False)
    assert lake.ids("lake.db.t") == [1, 2]


def test_tables_below_a_table_stay(lake: Lake) -> None:
    lake.catalog_at("lake", f"{lake.folder}/wh")
    lake.create("lake.db.t")
    for number, inner in enumerate(("sub", "data", "metadata", "deep.est")):
        lake.create(f"lake.db.t.{inner}", (DAY_1, number))
    parquet = lake.orphan("wh/db/t/ours/_versions/1.json"), lake.orphan("wh/db/t/ours/day=1/f.parquet")
    delta = lake.orphan("wh/db/t/delta/_delta_log/0.json"), lake.orphan("wh/db/t/delta/f.parquet")
    lost = lake.orphan("wh/db/t/lost/f.parquet")
    ended = lake.sweep("lake.db.t")
    assert (ended.ending, ended.results["removed"]) == (Ending.SUCCEEDED, [f"file:{lost}"])
    assert all(file.exists() for file in (*parquet, *delta))
    assert [lake.ids(f"lake.db.t.{inner}") for inner in ("sub", "data", "metadata", "deep.est")] == [
        [0],
        [1],
        [2],
        [3],
    ]
    assert lake.ids("lake.db.t") == [1]


def test_what_another_known_table_has_below_a_table_stays(lake: Lake) -> None:
    lake.catalog_at("lake", f"{lake.folder}/wh")
    lake.create("lake.db.t")
    lake.create("lake.db.u", properties=f"'write.data.path' = '{lake.folder}/wh/db/t/data/of_u/'")
    assert list((lake.folder / "wh/db/t/data/of_u").rglob("*.parquet"))
    lost = lake.orphan("wh/db/t/data/of_none/f.parquet")
    ended = lake.sweep("lake.db.t")
    assert ended.results["removed"] == [f"file:{lost}"]
    assert ended.results["left_because"] == {"below the table lake.db.u": 1}
    assert (lake.ids("lake.db.t"), lake.ids("lake.db.u")) == ([1], [1])


def test_two_tables_in_one_folder_stop_it(lake: Lake) -> None:
    lake.catalog_at("lake", f"{lake.folder}/wh")
    lake.create("lake.db.t")
    lake.create("lake.db.u", properties=f"'write.data.path' = '{lake.folder}/wh/db/t'")
    ended = lake.sweep("lake.db.t")
    assert ended.ending is Ending.FAILED
    assert "lake.db.u" in ended.detail
    assert lake.ids("lake.db.u") == [1]


def test_a_link_that_leads_out_of_the_table_is_not_followed(lake: Lake) -> None:
    lake.catalog_at("lake", f"{lake.folder}/wh")
    lake.create("lake.db.t")
    others = lake.orphan("elsewhere/day=1/f.parquet")
    (lake.folder / "wh/db/t/data/link").symlink_to(others.parent)
    ended = lake.sweep("lake.db.t")
    assert (ended.ending, ended.changed) == (Ending.SUCCEEDED, False)
    assert others.exists()


def test_a_slash_at_the_end_of_a_place(lake: Lake) -> None:
    place = f"{lake.folder}/wh/db/t"
    lake.catalog_at("lake", f"{lake.folder}/wh/")
    lake.create("lake.db.t", properties=f"'write.data.path' = '{place}//data/'")
    lake.add("lake.db.t", (DAY_1, 2))
    assert lake.sweep("lake.db.t").ending is Ending.SUCCEEDED
    assert lake.ids("lake.db.t") == [1, 2]


def test_the_last_guard_whatever_the_comparison_says(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.catalog_at("lake", f"{lake.folder}/wh")
    lake.create("lake.db.t")
    lake.add("lake.db.t", (DAY_1, 2))
    files = reached(lake, "lake.db.t")
    lost = lake.orphan("wh/db/t/data/lost.parquet")

    def everything(*args: Any) -> list[str]:
        return [f"file:{file}" for file in (lake.folder / "wh/db/t").rglob("*") if file.is_file()]

    monkeypatch.setattr(remove_orphan_files, "_orphans", everything)
    ended = lake.sweep("lake.db.t")
    assert ended.results["removed"] == [f"file:{lost}"]
    assert all(Path(file).exists() for file in files)
    assert (lake.folder / "wh/db/t/metadata/version-hint.text").exists()
    assert lake.ids("lake.db.t") == [1, 2]
