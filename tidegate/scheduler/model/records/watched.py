"""Watched folders: what was found in them, so that the same files are never reported twice.

The files of a partition are those of its last event. They are kept when the files go: a folder that is away
for a while, or an archive that empties it, makes no second event of the same files.
"""

from collections.abc import Mapping
from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind

Files = Mapping[str, tuple[int, str]]
"""Size in bytes and stamp by name. A stamp changes when the file is written again."""


class WatchedFolder(Value, kw_only=True):
    """The folder of a watched dataset.

    Attributes:
        dataset: "app/name".
        project: that owns the app.
        folder: absolute path or URL. Another folder begins from nothing.
        since: when a look succeeded first. Aware, UTC; None if none has.
        problem: why the last look failed; "" if it did not.
        remedy: what to do about the problem.
        problem_since: when that began.
    """

    dataset: str
    project: str
    folder: str
    since: datetime | None
    problem: str = ""
    remedy: str = ""
    problem_since: datetime | None = None


class WatchedPartition(Value, kw_only=True):
    """A partition of which files were reported, or were there at the first look.

    Attributes:
        dataset: "app/name".
        key: "" for a dataset without partitions.
        files: of its last event; with a marker, the marker among them.
        at: when that was. Aware, UTC.
    """

    dataset: str
    key: str
    files: dict[str, tuple[int, str]]
    at: datetime


WATCHED_FOLDERS = Kind(name="watched_folders", value=WatchedFolder, key=("dataset",), by=("project",))
WATCHED_PARTITIONS = Kind(name="watched_partitions", value=WatchedPartition, key=("dataset", "key"))


def changed(present: Files, known: Files) -> dict[str, tuple[int, str]]:
    """Return the files that are new or were written again; those that went do not count."""
    return {name: each for name, each in present.items() if known.get(name) != each}
