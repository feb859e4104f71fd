"""I landed `2026-03-01` in place of `day=2026-03-01`, and the program got no rows, without a word.

A folder that is named by the key alone is named, with what it should be called: by the run, by a watched
folder and by a report.
"""

from pathlib import Path

import pytest

from tests.spark_jobs.staging import DAILY
from tidegate.domain.model import App, Dataset, PartitionScheme, StaticDimension, Watch
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, dataset_ref
from tidegate.spark_jobs.datasets.landed import landed_folders
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.watcher.found import FoundFile
from tidegate.watcher.partitions import partitions_of
from tidegate.watcher.unlanded import without_files

BY_ORIGIN = PartitionScheme(time=DAILY.time, static=StaticDimension(name="origin", keys=("EWR", "a b")))
DAY = "2026-03-01"


def land(root: Path, folder: str) -> None:
    (root / folder).mkdir(parents=True)
    (root / folder / "a.parquet").write_text("1")


def ref(scheme: PartitionScheme) -> DatasetRef:
    return DatasetRef(app="shop", name="raw", scheme=scheme, path="raw")


@pytest.mark.parametrize(
    ("scheme", "folder", "right"),
    [
        (DAILY, DAY, f"day={DAY}"),
        (BY_ORIGIN, f"{DAY}/EWR", f"day={DAY}/origin=EWR"),
        (BY_ORIGIN, f"EWR/{DAY}", f"day={DAY}/origin=EWR"),
        (BY_ORIGIN, f"day={DAY}/EWR", f"day={DAY}/origin=EWR"),
        (BY_ORIGIN, f"{DAY}/origin=EWR", f"day={DAY}/origin=EWR"),
        (BY_ORIGIN, f"{DAY}/a b", f"day={DAY}/origin=a%20b"),
        (BY_ORIGIN, f"{DAY}/a%20b", f"day={DAY}/origin=a%20b"),
    ],
)
def test_run_watcher_and_report_say_what_it_should_be_called(
    tmp_path: Path, scheme: PartitionScheme, folder: str, right: str
) -> None:
    root = tmp_path / "raw"
    land(root, folder)
    said = f"is named by the key alone, so it is not read: it should be called {right}"

    with pytest.raises(SourceError) as failed:
        landed_folders(LocalFiles(), ref(scheme), str(root))
    assert f"shop/raw: {root}/{folder} {said}" in failed.value.message
    assert "rename it" in failed.value.hint

    notes: list[str] = []
    file = FoundFile(tuple(folder.split("/")), "a.parquet", 1, "1")
    assert partitions_of([file], scheme, Watch(), notes) == {}
    assert notes == [f"{folder!r} {said}"]

    raw = Dataset(name="raw", partitions=scheme, path="raw")
    key = DAY if scheme is DAILY else f"{DAY}|{'EWR' if 'EWR' in folder else 'a b'}"
    warehouse = Warehouse(path=tmp_path / "warehouse", project=tmp_path)
    app = App(name="shop", datasets={"raw": raw})
    assert dataset_ref("shop", raw).root(warehouse) == str(root)
    assert without_files(app, "raw", [key], warehouse) == {key: f"{root}/{folder} {said}"}


def test_it_fails_no_run_that_does_not_read_the_partition_or_finds_it_elsewhere(tmp_path: Path) -> None:
    land(tmp_path, DAY)
    files = LocalFiles()

    assert landed_folders(files, ref(DAILY), str(tmp_path), lambda key: key != DAY) == {}
    land(tmp_path, f"day={DAY}")
    assert landed_folders(files, ref(DAILY), str(tmp_path)) == {DAY: f"{tmp_path}/day={DAY}"}


@pytest.mark.parametrize("folder", ["archive", f"_{DAY}", "2026-13-01", f"old/{DAY}", f"week={DAY}"])
def test_folders_of_something_else_stay_unread(tmp_path: Path, folder: str) -> None:
    land(tmp_path, folder)

    assert landed_folders(LocalFiles(), ref(DAILY), str(tmp_path)) == {}


def test_an_empty_folder_of_that_name_is_nothing(tmp_path: Path) -> None:
    (tmp_path / DAY).mkdir()

    assert landed_folders(LocalFiles(), ref(DAILY), str(tmp_path)) == {}
