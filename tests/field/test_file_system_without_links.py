"""On a FAT, FUSE or network mount the publish failed half-way, after its rows had been put in place.

Without hard links, symbolic links or fsync of folders a publish works, or is refused before staging.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.spark_jobs.staging import DAILY, begin, read_rows, stage_rows
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.publish import publish
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse
from tidegate.spark_jobs.errors import OutputError
from tidegate.spark_jobs.files import abilities
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.publication.table import sequence_of

REF = DatasetRef(app="shop", name="t", scheme=DAILY, write="append")
DAY = "2013-12-22"


def unsupported(number: int) -> Callable[..., Any]:
    def call(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    return call


def without_hard_links(patch: pytest.MonkeyPatch, number: int = errno.EPERM) -> None:
    patch.setattr(os, "link", unsupported(number))


def without_symbolic_links(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Path, "symlink_to", unsupported(errno.EPERM))
    patch.setattr(os, "symlink", unsupported(errno.EPERM))


def without_fsync_of_folders(patch: pytest.MonkeyPatch) -> None:
    fsync = os.fsync

    def of_files_only(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(descriptor)

    patch.setattr(os, "fsync", of_files_only)


def without_anything(patch: pytest.MonkeyPatch) -> None:
    without_hard_links(patch)
    without_symbolic_links(patch)
    without_fsync_of_folders(patch)


def publish_two(folder: Path) -> Warehouse:
    warehouse, store = Warehouse(path=folder / "warehouse", project=folder), MemoryCommitStepStore()
    context = CommitContext(files=warehouse.files, spark=unsupported(errno.EPERM), watermarks=store)
    for number, commit in enumerate(("first", "second")):
        warehouse.files.moves_folders_whole(REF.root(warehouse))
        token = begin(store, commit, [REF.id])
        staged = stage_rows(warehouse, REF, {DAY: [number]}, commit=commit, token=token)
        publish(sequence_of(commit, token, [staged]), store, context)
    assert store.list_unfinished() == ()
    return warehouse


@pytest.mark.parametrize(
    "lacks",
    [
        without_hard_links,
        lambda patch: without_hard_links(patch, errno.EOPNOTSUPP),
        lambda patch: without_hard_links(patch, errno.ENOSYS),
        without_symbolic_links,
        without_fsync_of_folders,
        without_anything,
    ],
)
def test_a_publish_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: Callable[..., None]) -> None:
    lacks(monkeypatch)
    assert read_rows(publish_two(tmp_path), REF) == {DAY: [0, 1]}
    assert not list(tmp_path.rglob(".tidegate-*"))


def test_one_of_two_writers_creates_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_hard_links(monkeypatch)
    files, file = LocalFiles(), tmp_path / "1.json"
    assert [files.put_if_absent(str(file), text) for text in (b"one", b"other")] == [True, False]
    assert file.read_bytes() == b"one"
    assert [one.name for one in tmp_path.iterdir()] == ["1.json"]


def test_without_any_safe_way_it_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_hard_links(monkeypatch)
    monkeypatch.setattr(abilities, "_rename_unless_it_exists", unsupported(errno.EINVAL))
    with pytest.raises(OutputError, match="neither hard links nor renames that replace nothing") as refused:
        publish_two(tmp_path)
    assert "[warehouse] path" in refused.value.hint
    assert list(tmp_path.rglob("*")) == []


def test_a_c_library_without_that_rename_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_hard_links(monkeypatch)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: object())
    with pytest.raises(OutputError):
        publish_two(tmp_path)
