"""What a look at a watched folder finds: files and notes, under limits."""

from dataclasses import dataclass

from tidegate.domain.error import UserError

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
