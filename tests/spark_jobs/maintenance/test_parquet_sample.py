"""The health of a Parquet table from a sample of its files: of all its folders, not of the oldest."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.spark_jobs.staging import daily
from tidegate.domain.model import HealthRules
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.maintenance.file_counts import spread
from tidegate.spark_jobs.maintenance.parquet.health import measure_parquet
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry
from tidegate.spark_jobs.parquet.version_log import TableVersion, put_version

NOW = datetime(2014, 1, 1, tzinfo=UTC)
REF = daily("t")
FILES, SMALL, LARGE = 10, 10, 1000
"""In each folder, and their sizes."""


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """A table of twenty days, of which the newer half has small files."""
    made = Warehouse(path=tmp_path, project=tmp_path)
    root, entries = REF.root(made), dict[str, PartitionEntry]()
    for day in range(1, 21):
        key, size = f"2013-12-{day:02d}", LARGE if day <= 10 else SMALL
        folder = Path(root, "_data", f"day={key}", "c1")
        folder.mkdir(parents=True)
        for number in range(FILES):
            (folder / f"{number}.parquet").write_bytes(b"x" * size)
        entries[key] = PartitionEntry(
            path=f"_data/day={key}/c1", commit="c1", token=1, rows=1, bytes=FILES * size, files=FILES
        )
    assert put_version(made.files, root, TableVersion(number=1, commit="c1", schema="{}", partitions=entries))
    return made


@pytest.mark.parametrize(("sample", "read"), [(20, 20), (40, 40), (1, 10), (45, 40), (199, 190)])
def test_a_sample_is_of_old_and_new_partitions(warehouse: Warehouse, sample: int, read: int) -> None:
    found = measure_parquet(REF, warehouse, HealthRules(small_file=100, sample=sample), NOW)
    assert found.values["files"] == 200
    assert found.note.startswith(f"from {read} of 200 files")
    if sample > FILES:
        assert found.values["small_file_percent"] == pytest.approx(50, abs=3)
        assert found.values["total_size"] == pytest.approx(10 * FILES * (LARGE + SMALL), rel=0.06)


def test_a_sample_as_large_as_the_table_is_the_table(warehouse: Warehouse) -> None:
    found = measure_parquet(REF, warehouse, HealthRules(small_file=100, sample=200), NOW)
    assert (found.note, found.values["partitions"], found.values["small_files"]) == ("", 20, 100)


@pytest.mark.parametrize(
    ("count", "chosen"), [(1, [0]), (2, [0, 5]), (3, [0, 3, 6]), (9, [0, 1, 2, 3, 4, 5, 6, 7, 8]), (10, None)]
)
def test_what_is_spread_is_even(count: int, chosen: list[int] | None) -> None:
    assert spread(range(10), count) == (range(10) if chosen is None else chosen)
