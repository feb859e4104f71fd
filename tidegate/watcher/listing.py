"""The files below a watched folder, wherever it is, under a limit."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.domain.error import UserError
from tidegate.spark_jobs.files.scheme import is_local

FILES_MAX = 200_000
"""Files of one folder: a listing of them takes some seconds locally, and some minutes in a cloud."""

NOTES_MAX = 20


class WatchError(UserError):
    """A folder that cannot be looked at."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file.

    Attributes:
        folders: the names of the folders between the watched one and the file.
        size: in bytes.
        stamp: changes when the file is written again.
    """

    folders: tuple[str, ...]
    name: str
    size: int
    stamp: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What is below a folder.

    Attributes:
        files: in no order.
        notes: what was left out, and why, at most `NOTES_MAX`.
    """

    files: list[FoundFile]
    notes: list[str]


def list_folder(folder: str, dimensions: int, options: Mapping[str, Any]) -> Listing:
    """Return the files below a folder.

    Args:
        folder: absolute path or URL.
        dimensions: how many folders are between it and the files.
        options: of the file system's client, by its own names.

    Raises:
        WatchError: the folder cannot be listed, or has too many files.
    """
    if is_local(folder):
        from tidegate.watcher.local import list_local

        return list_local(folder, dimensions)
    from tidegate.watcher.cloud import list_cloud

    return list_cloud(folder, dimensions, options)


def too_many(folder: str) -> WatchError:
    """Return the error of a folder with more files than are looked at."""
    return WatchError(
        f"{folder} has more than {FILES_MAX:,} files",
        "move old partitions to another folder, or delete `watch` and report partitions",
    )


def note(notes: list[str], text: str) -> None:
    """Add a note, unless there are enough."""
    if len(notes) < NOTES_MAX:
        notes.append(text)
