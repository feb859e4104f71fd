"""Publishing a folder by copying it: half a copy is not a publish, and a foreign file is not ours."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.crashes.processes import in_child, in_children, kill_self
from tests.effort import much
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import Verdict, decode_step, encode_step
from tidegate.spark_jobs.files.filesystem import LocalFiles, is_data
from tidegate.spark_jobs.parquet.folders.copy_folder import CopyFolder, digests_of
from tidegate.spark_jobs.parquet.folders.publish_folder import MARKER, write_marker

FILES = {"part-0.parquet": b"first " * 100, "part-1.parquet": b"other " * 100, "part-2.parquet": b""}


class Copy(NamedTuple):
    """A staged folder and the step that is to publish it."""

    step: CopyFolder
    source: Path
    target: Path

    def verify(self, files: LocalFiles | None = None) -> tuple[Verdict, str]:
        answer = self.step.verify(CommitContext(files=files or LocalFiles()))
        return answer.verdict, answer.reason

    def execute(self, files: LocalFiles | None = None) -> None:
        self.step.execute(CommitContext(files=files or LocalFiles()))

    def is_published(self) -> bool:
        there = {file.name: file.read_bytes() for file in self.target.iterdir() if is_data(file.name)}
        return there == FILES and self.verify() == (Verdict.DONE, "")


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    source, target = tmp_path / "_staging/c1/1/k", tmp_path / "data/v=c1"
    source.mkdir(parents=True)
    for name, content in FILES.items():
        (source / name).write_bytes(content)
    marker = write_marker(LocalFiles(), str(source), commit="c1", token=1)
    digests = digests_of(LocalFiles(), str(source), marker)
    step = CopyFolder(source=str(source), target=str(target), marker=marker, digests=digests)
    return Copy(step, source, target)


def test_a_folder_is_copied_once_and_recognised(copy: Copy) -> None:
    assert copy.verify() == (Verdict.NOT_DONE, "")
    copy.execute()
    assert copy.is_published()
    copy.execute()
    assert copy.is_published()
    assert decode_step(encode_step(copy.step)) == copy.step


def test_it_is_done_while_the_source_is_there_and_when_it_is_gone(copy: Copy) -> None:
    copy.execute()
    assert copy.source.exists()
    assert copy.verify() == (Verdict.DONE, "")
    LocalFiles().delete(str(copy.source))
    assert copy.verify() == (Verdict.DONE, "")


def _truncated(copy: Copy) -> None:
    (copy.target / "part-0.parquet").write_bytes(FILES["part-0.parquet"][:50])


def _other_bytes_of_the_same_size(copy: Copy) -> None:
    (copy.target / "part-0.parquet").write_bytes(b"x" * 600)


def _all_but_the_marker(copy: Copy) -> None:
    for name, content in FILES.items():
        (copy.target / name).write_bytes(content)


@pytest.mark.parametrize(
    "half", [_truncated, _other_bytes_of_the_same_size, _all_but_the_marker, lambda copy: None]
)
def test_half_a_copy_is_not_done_and_is_done_again(copy: Copy, half: Callable[[Copy], None]) -> None:
    copy.target.mkdir(parents=True)
    half(copy)
    assert copy.verify() == (Verdict.NOT_DONE, "")
    copy.execute()
    assert copy.is_published()


class DyingFiles(LocalFiles):
    """Dies at the nth change: before a copy, with half of it at the target, after it, or at the marker."""

    def __init__(self, number: int) -> None:
        self._left = count(number, -1)

    def copy(self, source: str, target: str) -> None:
        self._count()
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        # As on a file system that shows what is written before it is closed.
        Path(target).write_bytes(Path(source).read_bytes()[:100])
        self._count()
        super().copy(source, target)
        self._count()

    def put_if_absent(self, file: str, content: bytes) -> bool:
        self._count()
        done = super().put_if_absent(file, content)
        self._count()
        return done

    def _count(self) -> None:
        # One call, since files are copied by several threads.
        if next(self._left) == 0:
            kill_self()


CHANGES = 3 * len(FILES) + 2


@pytest.mark.endurance  # a process for each place where one can die
@pytest.mark.parametrize("number", range(CHANGES + 1))
def test_wherever_a_copy_dies_the_next_one_finishes_it(copy: Copy, number: int) -> None:
    code = in_child(lambda: copy.execute(DyingFiles(number)))
    assert (code == 0) == (number == CHANGES)
    verdict, _ = copy.verify()
    assert verdict is (Verdict.DONE if number >= CHANGES - 1 else Verdict.NOT_DONE)
    if verdict is Verdict.NOT_DONE:
        copy.execute()
    assert copy.is_published()


@pytest.mark.endurance  # two processes, again and again
@pytest.mark.parametrize("_", range(much(3)))
def test_two_copy_at_once_with_one_effect(copy: Copy, _: int) -> None:
    assert in_children(copy.execute, copy.execute) == [0, 0]
    assert copy.is_published()


def _foreign_file(copy: Copy) -> None:
    (copy.target / "foreign.parquet").write_bytes(b"theirs")


def _foreign_folder(copy: Copy) -> None:
    (copy.target / "part-0.parquet").write_bytes(FILES["part-0.parquet"])
    write_marker(LocalFiles(), str(copy.target), commit="theirs", token=9)


def _marked_but_changed(copy: Copy) -> None:
    copy.execute()
    (copy.target / "part-1.parquet").unlink()


def _source_gone(copy: Copy) -> None:
    LocalFiles().delete(str(copy.source))


def _source_changed(copy: Copy) -> None:
    (copy.source / "part-0.parquet").unlink()


@pytest.mark.parametrize(
    ("happened", "seen"),
    [
        (_foreign_file, "has files that were not staged: foreign.parquet"),
        (_foreign_folder, "differs from the staged folder: it belongs to commit theirs, token 9"),
        (_marked_but_changed, "differs from the staged folder: files differ: part-1.parquet"),
        (_source_gone, "does not exist, and"),
        (_source_changed, "was changed: files differ: part-0.parquet"),
    ],
)
def test_what_cannot_be_told_is_unknown(copy: Copy, happened: Callable[[Copy], None], seen: str) -> None:
    copy.target.mkdir(parents=True)
    happened(copy)
    verdict, said = copy.verify()
    assert verdict is Verdict.UNKNOWN
    assert seen in said


def test_a_publish_that_another_process_finishes_between_two_looks_is_done(copy: Copy) -> None:
    class Raced(LocalFiles):
        def read(self, file: str) -> bytes | None:
            if file == f"{copy.source}/{MARKER}":
                copy.execute()
                LocalFiles().delete(str(copy.source))
            return super().read(file)

    assert copy.verify(Raced()) == (Verdict.DONE, "")


def test_a_copy_that_the_store_spoils_is_an_error_and_no_publish(copy: Copy) -> None:
    class Spoiling(LocalFiles):
        def copy(self, source: str, target: str) -> None:
            super().copy(source, target)
            Path(target).write_bytes(b"spoilt")

    with pytest.raises(OSError, match="differs from the staged file after it was copied"):
        copy.execute(Spoiling())
    assert copy.verify() == (Verdict.NOT_DONE, "")


def test_what_is_to_be_copied_must_be_there(copy: Copy) -> None:
    (copy.source / "part-0.parquet").unlink()
    with pytest.raises(FileNotFoundError):
        digests_of(LocalFiles(), str(copy.source), copy.step.marker)
    assert copy.step.describe() == f"copy 3 files to {copy.target}"
