"""What fsck says of a published folder: nothing while it has the files of its marker."""

from pathlib import Path

import pytest

from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.parquet.folders.publish_folder import MARKER, harm_of, write_marker


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "part-1.parquet").write_bytes(b"rows")
    write_marker(LocalFiles(), str(tmp_path), commit="c1", token=1)
    return tmp_path


def harm(folder: Path) -> str | None:
    return harm_of(LocalFiles(), str(folder))


def test_a_folder_with_its_files_is_sound(folder: Path) -> None:
    assert harm(folder) is None
    assert harm(folder / "missing") == "which does not exist"


def test_a_file_that_was_cut_is_named(folder: Path) -> None:
    (folder / "part-1.parquet").write_bytes(b"ro")
    found = harm(folder)
    assert found == "where 1 data files do not exist or have another length: part-1.parquet"


def test_a_file_of_others_is_named(folder: Path) -> None:
    (folder / "theirs.parquet").write_bytes(b"rows")
    assert harm(folder) == "where others have put files, which are read: theirs.parquet"


def test_a_damaged_marker_is_named(folder: Path) -> None:
    (folder / MARKER).write_bytes(b'{"commit": "c1", ')
    assert harm(folder) == f"whose {MARKER} cannot be read"
