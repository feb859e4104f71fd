"""What publishing relies on when another process removes the folder beside it."""

import os
from pathlib import Path

import pytest

from tidegate.spark_jobs.files.filesystem import Entry, LocalFiles
from tidegate.spark_jobs.parquet.folders.publish_folder import MARKER, write_marker
from tidegate.spark_jobs.parquet.version_log import TableVersion, head, put_version


@pytest.fixture
def swept_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process removes what is half-written, between the writing and the linking."""
    link = os.link

    def swept(source: str | Path, target: str | Path) -> None:
        Path(source).unlink()
        link(source, target)

    monkeypatch.setattr(os, "link", swept)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is flushed, by name, and what a test adds, in order."""
    found, fsync = list[str](), os.fsync

    def flushing(descriptor: int) -> None:
        found.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", flushing)
    return found


def test_a_name_is_given_once(tmp_path: Path) -> None:
    file = f"{tmp_path}/deep/name"
    assert LocalFiles().put_if_absent(file, b"first")
    assert not LocalFiles().put_if_absent(file, b"second")
    assert LocalFiles().read(file) == b"first"
    assert [entry.name for entry in LocalFiles().list(f"{tmp_path}/deep")] == ["name"]


def test_a_listing_tells_size_and_time_of_files(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "rows.parquet").write_bytes(b"12345")
    os.utime(tmp_path / "rows.parquet", ns=(0, 1_700_000_000_123_456_789))
    assert LocalFiles().list(str(tmp_path)) == (
        Entry(name="folder", size=0, modified_ms=0, is_folder=True),
        Entry(name="rows.parquet", size=5, modified_ms=1_700_000_000_123, is_folder=False),
    )


@pytest.mark.usefixtures("swept_away")
def test_a_file_that_is_swept_away_is_not_said_to_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LocalFiles().put_if_absent(f"{tmp_path}/name", b"content")


@pytest.mark.usefixtures("swept_away")
def test_staging_that_is_removed_while_it_is_sealed_is_missing_and_not_sealed_twice(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_marker(LocalFiles(), str(tmp_path / "staged"), commit="c1", token=1)


@pytest.mark.usefixtures("swept_away")
def test_a_version_that_a_prune_sweeps_away_is_tried_again_with_another_number(tmp_path: Path) -> None:
    assert not put_version(LocalFiles(), str(tmp_path), TableVersion(number=1, commit="c1"))
    assert head(LocalFiles(), str(tmp_path)).number == 0


def test_a_marker_is_put_after_what_it_lists_is_durable_and_nothing_is_flushed_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: list[str]
) -> None:
    folder, link = tmp_path / "staged", os.link

    def linking(source: Path, target: Path) -> None:
        done.append("put")
        link(source, target)

    folder.mkdir()
    (folder / "part-0.parquet").write_bytes(b"rows")
    monkeypatch.setattr(os, "link", linking)

    write_marker(LocalFiles(), str(folder), commit="c1", token=1)

    hidden = next(name for name in done if name.startswith(f".{MARKER}."))
    assert done == ["part-0.parquet", "staged", hidden, "put", "staged"]


def test_what_moves_share_is_flushed_once_and_the_folders_that_lose_them_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: list[str]
) -> None:
    staged, data, rename = tmp_path / "staged", tmp_path / "data", os.rename

    def renaming(source: Path, target: Path) -> None:
        done.append("move")
        rename(source, target)

    data.mkdir()
    for name in ("day=1", "day=2"):
        (staged / name).mkdir(parents=True)
    monkeypatch.setattr(os, "rename", renaming)

    LocalFiles().rename({f"{staged}/{name}": f"{data}/{name}/c" for name in ("day=1", "day=2")})

    assert done[:3] == ["data", "move", "move"]
    assert (sorted(done[3:-1]), done[-1]) == (["day=1", "day=2"], "staged")
