"""The step that moves one staged folder to its final place.

The marker `_commit.json` is the last file written into a staged folder. It lists the
commit and every data file with its size. A folder at the target counts as published only if
its marker equals the expected one and its files are those in the marker: a folder of
another writer, or an incomplete copy, never counts.
"""

from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

import msgspec

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind, unknown
from tidegate.spark_jobs.files.filesystem import FileSystem, is_data

MARKER = "_commit.json"
SHOWN = 3
"""File names in a message."""


class FolderMarker(Value, kw_only=True):
    """The content of the marker file in a published folder.

    Attributes:
        commit: commit id of the publish.
        token: fencing token of the run that staged it.
        files: size in bytes of each data file, by name.
    """

    commit: str
    token: int
    files: dict[str, int]


class NoMarker(Enum):
    """Why a folder has no marker to compare with."""

    MISSING = "missing"
    UNREADABLE = "unreadable"


@step_kind("publish_folder")
class PublishFolder(Value, kw_only=True):
    """Renames `source` to `target`; both are absolute paths on one file system."""

    effect: ClassVar[Effect] = Effect.PREPARES

    source: str
    target: str
    marker: FolderMarker

    def verify(self, context: CommitContext) -> Verified:
        files = context.files
        if files.exists(self.target):
            fault = fault_of(files, self.target, self.marker)
            return (
                DONE if fault is None else unknown(f"{self.target} differs from the staged folder: {fault}")
            )
        fault = fault_of(files, self.source, self.marker)
        if fault is None:
            return NOT_DONE
        if files.exists(self.target):
            # Another process has moved it between the two reads.
            return self.verify(context)
        if not files.exists(self.source):
            return unknown(f"neither the staged folder {self.source} nor {self.target} exists")
        return unknown(f"the staged folder {self.source} was changed: {fault}")

    def execute(self, context: CommitContext) -> None:
        self.execute_all([self], context)

    @staticmethod
    def verify_all(steps: Sequence["PublishFolder"], context: CommitContext) -> tuple[Verified, ...]:
        return tuple(step.verify(context) for step in steps)

    @staticmethod
    def execute_all(steps: Sequence["PublishFolder"], context: CommitContext) -> None:
        """The folders do not depend on each other, and no reader uses one of them yet."""
        context.files.rename({step.source: step.target for step in steps})

    def describe(self) -> str:
        return f"move {len(self.marker.files)} files to {self.target}"


def write_marker(files: FileSystem, folder: str, *, commit: str, token: int) -> FolderMarker:
    """Seal a staged folder: list its data files in a marker and make all of it durable.

    Raises:
        FileExistsError: the folder has a marker already.
    """
    marker = FolderMarker(commit=commit, token=token, files=data_files(files, folder))
    # Before the marker, which is durable once it is put, and says that all the others are.
    files.sync(folder)
    if not files.put_if_absent(f"{folder}/{MARKER}", msgspec.json.encode(marker, order="sorted")):
        raise FileExistsError(f"{folder} already has a {MARKER}")
    return marker


def data_files(files: FileSystem, folder: str) -> dict[str, int]:
    """Return the size in bytes of each data file of a folder, by name."""
    return {e.name: e.size for e in files.list(folder) if not e.is_folder and is_data(e.name)}


def harm_of(files: FileSystem, folder: str) -> str | None:
    """Return what has happened to a published folder; None while it has the files that were published."""
    if not files.exists(folder):
        return "which does not exist"
    marker = _marker(files, folder)
    if marker is NoMarker.MISSING:
        return None
    if marker is NoMarker.UNREADABLE:
        return f"whose {MARKER} cannot be read"
    published = marker.files
    found = data_files(files, folder)
    lost = sorted(name for name, size in published.items() if found.get(name) != size)
    if lost:
        return f"where {len(lost)} data files do not exist or have another length: {', '.join(lost[:SHOWN])}"
    strange = sorted(found.keys() - published.keys())
    return f"where others have put files, which are read: {', '.join(strange[:SHOWN])}" if strange else None


def fault_of(files: FileSystem, folder: str, expected: FolderMarker) -> str | None:
    """Return why a folder is not the expected one; None when it is."""
    marker = _marker(files, folder)
    if marker is NoMarker.MISSING:
        return f"it has no {MARKER}"
    if marker is NoMarker.UNREADABLE:
        return f"its {MARKER} cannot be read"
    if marker != expected:
        return f"it belongs to commit {marker.commit}, token {marker.token}"
    found = data_files(files, folder)
    if found != expected.files:
        changed = sorted(
            name for name in {*found, *expected.files} if found.get(name) != expected.files.get(name)
        )
        return f"files differ: {', '.join(changed[:5])}"
    return None


def _marker(files: FileSystem, folder: str) -> FolderMarker | NoMarker:
    """Return the marker of a folder, or why there is none."""
    content = files.read(f"{folder}/{MARKER}")
    if content is None:
        return NoMarker.MISSING
    try:
        return msgspec.json.decode(content, type=FolderMarker)
    except msgspec.DecodeError:
        return NoMarker.UNREADABLE
