"""After a power cut one file of a table was empty, and every command died with an error that named no file.

What cannot be read names its file, row or property and the remedy, and hides nothing else.
"""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import tidegate.read
from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.staging import DAILY, begin, linked_rows, stage_rows
from tidegate.domain.model import App, Dataset, Program
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.errors import TableDamaged
from tidegate.spark_jobs.iceberg.table.table import log_of
from tidegate.spark_jobs.publication.formats import format_of
from tidegate.spark_jobs.publication.table import sequence_of
from tidegate.spark_jobs.repair.fsck import Examined, Finding, fsck

DAY = "2013-12-22"
ONE, OTHER = Dataset(name="one", partitions=DAILY, write="append"), Dataset(name="other", partitions=DAILY)
APP = App(
    name="shop",
    datasets={"raw": Dataset(name="raw", partitions=DAILY, path="raw"), "one": ONE, "other": OTHER},
    programs={
        "load": Program(name="load", run="x.y", reads=("raw",), writes=("one",), incremental={"raw": True}),
        "report": Program(name="report", run="x.y", reads=("one",), writes=("other",)),
    },
)


class House:
    """Two tables, each with two publishes."""

    def __init__(self, folder: Path) -> None:
        self.store = MemoryCommitStepStore()
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.context = CommitContext(files=self.warehouse.files, spark=no_spark, watermarks=self.store)
        for dataset in (ONE, OTHER):
            for number in range(2):
                ref, commit = dataset_ref("shop", dataset), f"{dataset.name}{number}"
                token = begin(self.store, commit, [ref.id])
                staged = stage_rows(self.warehouse, ref, {DAY: [number]}, commit=commit, token=token)
                publish(sequence_of(commit, token, [staged]), self.store, self.context)

    def root(self, dataset: Dataset) -> Path:
        return Path(dataset_ref("shop", dataset).root(self.warehouse))

    def version(self, number: int) -> Path:
        return self.root(ONE) / "_versions" / f"{number:020d}.json"

    def findings(self) -> tuple[Finding, ...]:
        examined = Examined(
            apps=(APP,),
            warehouse=self.warehouse,
            store=self.store,
            context=self.context,
            now=datetime.now(UTC),
        )
        return fsck(examined)


def no_spark() -> Any:
    raise AssertionError("nothing here needs a session")


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = House(tmp_path)
    assert made.findings() == ()
    return made


def empty(house: House) -> Path:
    house.version(2).write_text("")
    return house.version(2)


def tear(house: House) -> Path:
    content = house.version(2).read_text()
    house.version(2).write_text(content[: len(content) // 2])
    return house.version(2)


def copy_to_a_high_number(house: House) -> Path:
    return Path(shutil.copy(house.version(2), house.version(10**20 - 1)))


@pytest.mark.parametrize("happens", [empty, tear, copy_to_a_high_number])
def test_readers_writers_and_fsck_name_the_file(house: House, happens: Callable[[House], Path]) -> None:
    file = happens(house)
    with pytest.raises(TableDamaged, match=str(file)) as damaged:
        tidegate.read.pyarrow(str(house.root(ONE)))
    assert "move it away" in damaged.value.hint

    assert {one.where for one in house.findings()} >= {"shop/one"}
    assert all(one.remedy and "shop/other" not in one.where for one in house.findings())
    assert str(file) in house.findings()[0].what
    assert tidegate.read.pyarrow(str(house.root(OTHER))).to_table().num_rows == 1

    file.rename(house.root(ONE).with_name("saved"))
    assert tidegate.read.pyarrow(str(house.root(ONE))).to_table().num_rows >= 1


def test_a_file_of_another_name_is_not_a_version(house: House) -> None:
    shutil.copy(house.version(2), house.root(ONE) / "_versions" / "9.json")
    assert tidegate.read.pyarrow(str(house.root(ONE))).to_table().num_rows == 2
    (found,) = house.findings()
    assert "9.json is not a version" in found.what and "move the file away" in found.remedy


def test_a_gap_before_the_newest_version_is_named(house: House) -> None:
    text = house.version(2).read_text()
    assert '"number":2' in text
    house.version(7).write_text(text.replace('"number":2', '"number":7'))
    assert any("follows version 2" in one.what for one in house.findings())


def test_a_lost_file_of_a_view_is_found_and_linked_again(house: House) -> None:
    ref = dataset_ref("shop", ONE)
    lost = sorted((house.root(ONE) / "current").glob("*.parquet"))[0]
    lost.unlink()
    (found,) = house.findings()
    assert "has 1 of the 2 files" in found.what
    assert found.cleanable
    assert format_of(ref).show(ref, house.warehouse)
    assert linked_rows(house.warehouse, ref) == [0, 1]
    assert house.findings() == ()
    assert not format_of(ref).show(ref, house.warehouse)


@pytest.mark.parametrize("text", ["", "{", '{"recent": 7}'])
def test_a_property_of_others_names_table_and_property(text: str) -> None:
    class Table:
        def name(self) -> str:
            return "tidegate.shop.lake"

        def properties(self) -> dict[str, str]:
            return {"tidegate.publishes": text}

    with pytest.raises(TableDamaged, match=r"tidegate\.shop\.lake: its property tidegate\.publishes is"):
        log_of(Table())
