"""The hint of an Iceberg table, for readers without a catalog: an operation makes it right before it begins.

That a recovery does so is in spark_jobs/crash_table/test_crash_table.py.
"""

from pathlib import Path

import pytest
from pyiceberg.table import StaticTable
from pyspark.sql import SparkSession

from tests.spark_jobs.iceberg.house import D22, D23
from tests.spark_jobs.maintenance.yard import MANIFESTS, Yard
from tidegate.spark_jobs.iceberg.catalog.half_done import HINT, mend_version_hint

pytestmark = [pytest.mark.spark, pytest.mark.iceberg]


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Yard:
    """A table with two commits."""
    yard = Yard(tmp_path_factory.mktemp("hint"), spark)
    yard.make()
    yard.insert((D22, 1))
    yard.insert((D23, 2))
    return yard


@pytest.fixture
def hint(yard: Yard) -> Path:
    return Path(yard.table().location().removeprefix("file:")) / "metadata" / HINT


@pytest.mark.parametrize("left", [None, "2", "", "v3"], ids=["none", "old", "empty", "other"])
def test_what_a_process_has_left_that_died(yard: Yard, hint: Path, left: str | None) -> None:
    newest = hint.read_text()
    remove(hint)
    if left is not None:
        hint.write_text(left)
    mend_version_hint(yard.catalog.files, yard.table())
    assert hint.read_text() == newest
    assert [file.name for file in hint.parent.glob(f"*{HINT}*") if file.suffix != ".crc"] == [HINT]


def test_that_of_a_later_commit_stays(yard: Yard, hint: Path) -> None:
    table, old = yard.table(), int(hint.read_text())
    yard.sql("ALTER TABLE T SET TBLPROPERTIES ('later' = 'yes')")
    mend_version_hint(yard.catalog.files, table)
    assert int(hint.read_text()) == old + 1


def test_the_next_operation_makes_it_right(yard: Yard, hint: Path) -> None:
    """An operation that has died with its commit need not run again: any other will do."""
    remove(hint)
    yard.run(MANIFESTS)
    found = StaticTable.from_metadata(str(hint.parent.parent)).scan().to_arrow()
    assert sorted(found["id"].to_pylist()) == [1, 2]


def remove(hint: Path) -> None:
    for file in (hint, hint.with_name(f".{hint.name}.crc")):
        file.unlink(missing_ok=True)
