"""Who can put a link into the landing folder has a run read any file that the server may read.

A link that leads out of the dataset's folder is refused with its name, by whole and incremental reads; one
within the folder is read, and the folder itself may be a link. The watcher follows no link at all.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.spark_jobs.staging import DAILY
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.datasets.increment import IncrementalRead
from tidegate.spark_jobs.datasets.landed import files_below, landed_folders, refuse_links_out
from tidegate.spark_jobs.errors import SourceError
from tidegate.spark_jobs.parquet.new_rows import new_files
from tidegate.spark_jobs.programs.params import Params
from tidegate.watcher.look import list_local

DAYS = DatasetRef(app="test", name="landed", path="landing", scheme=DAILY)
GOOD, BAD = "2026-03-08", "2026-03-09"
Read = Callable[..., set[str]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of the dataset, with a good day, beside a folder of others."""
    land(tmp_path / "private" / "deep" / "salaries.parquet")
    land(tmp_path / "landing" / f"day={GOOD}" / "a.parquet")
    (tmp_path / "landing" / f"day={BAD}").mkdir()
    return tmp_path / "landing"


@pytest.fixture(params=["whole", "new"])
def read(root: Path, request: pytest.FixtureRequest) -> Iterator[Read]:
    """Returns the files that a run reads of some days, by the names below the dataset's folder."""
    house = Warehouse(path=root.parent / "warehouse", project=root.parent)

    def names(*days: str) -> set[str]:
        if request.param == "new":
            asked = IncrementalRead(
                consumer="test/p",
                ref=DAYS,
                warehouse=house,
                params=Params(),
                selects=lambda key: key in days,
            )
            found = set(new_files(asked).paths)
        else:
            folders = landed_folders(house.files, DAYS, str(root), lambda key: key in days)
            found = {
                f"{folders[key]}/{name}"
                for key in days
                for name, _ in files_below(house.files, str(root), folders[key])
            }
            refuse_links_out(DAYS, str(root), found)
        return {path.removeprefix(f"{root}/") for path in found}

    yield names


def land(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": [1]}), file)


@pytest.mark.parametrize(
    ("link", "target"),
    [
        (f"day={BAD}/a.parquet", "private/deep/salaries.parquet"),
        (f"day={BAD}/below", "private"),
        (f"day={BAD}", "private/deep"),
        # All that lies below would be searched first.
        (f"day={BAD}/up", ""),
    ],
)
def test_a_link_that_leads_out_is_refused_with_its_name(
    root: Path, tmp_path: Path, read: Read, link: str, target: str
) -> None:
    if link == f"day={BAD}":
        (root / link).rmdir()
    (root / link).symlink_to(tmp_path / target)
    with pytest.raises(SourceError) as refused:
        read(GOOD, BAD)
    assert f"{root / link} is a link that leads out of the dataset's folder {root}" in refused.value.message
    assert "salaries" not in refused.value.message
    # Other days are read as before.
    assert read(GOOD) == {f"day={GOOD}/a.parquet"}
    # The watcher reports none of it.
    assert {file.folders for file in list_local(str(root), 1).files} == {(f"day={GOOD}",)}


def test_a_link_within_the_folder_is_read(root: Path, read: Read) -> None:
    (root / f"day={BAD}" / "b.parquet").symlink_to(root / f"day={GOOD}" / "a.parquet")
    assert read(BAD) == {f"day={BAD}/b.parquet"}


def test_the_folder_itself_may_be_a_link(root: Path, tmp_path: Path, read: Read) -> None:
    root.rename(tmp_path / "elsewhere")
    root.symlink_to(tmp_path / "elsewhere")
    assert read(GOOD) == {f"day={GOOD}/a.parquet"}


def test_hidden_links_are_no_data(root: Path, tmp_path: Path, read: Read) -> None:
    (root / f"day={GOOD}" / "_private").symlink_to(tmp_path / "private")
    assert read(GOOD) == {f"day={GOOD}/a.parquet"}
