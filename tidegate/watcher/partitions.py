"""What files mean: the partition of each, and what a partition waits for before it is complete. Pure.

The layout is that of landed files (`spark_jobs.datasets.landed`): what a reader does not see does not count.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from tidegate.domain.model import PartitionScheme, Watch
from tidegate.domain.nearest_key import read_key
from tidegate.domain.partition_key import not_begun
from tidegate.scheduler.model.records.watched import Files, changed
from tidegate.spark_jobs.datasets.dataset_ref import bare_folder, bare_key, folder_value
from tidegate.spark_jobs.files.filesystem import is_data
from tidegate.watcher.found import FoundFile, note

FILES_PER_PARTITION_MAX = 10_000
"""The store has the names of a partition's files in one row."""

TEMPORARY = (
    "._copying_",
    ".crc",
    ".crdownload",
    ".filepart",
    ".inprogress",
    ".part",
    ".partial",
    ".temp",
    ".tmp",
    ".uploading",
    ".writing",
)
"""How names end while a file is being written, in lower case. Readers see such files."""

ReadKeys = dict[tuple[str, ...], str]
"""The key of each partition's folder, by the names of the folders that lead to it."""


@dataclass(slots=True)
class FoundPartition:
    """The files of a partition.

    Attributes:
        folder: below the watched one, "" for a dataset without partitions.
        files: that a reader sees, and the marker.
        unfinished: the first name, in order, of a file that is being written; "" without any.
    """

    key: str
    folder: str
    files: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    unfinished: str = ""


def partitions_of(
    files: Iterable[FoundFile],
    scheme: PartitionScheme | None,
    watch: Watch,
    notes: list[str],
    read: ReadKeys | None = None,
) -> dict[str, FoundPartition]:
    """Return the partitions that have files, by key; what belongs to none is noted.

    Args:
        read: the keys that the look before has read, which are not read again; replaced by those of this one.
    """
    before: ReadKeys = {} if read is None else dict(read)
    found: dict[str, FoundPartition] = {}
    keys: dict[tuple[str, ...], str | None] = {}
    for file in files:
        if not is_data(file.name) and file.name != watch.marker:
            continue
        if file.folders not in keys:
            known = before.get(file.folders)
            keys[file.folders] = _key(file.folders, scheme, notes) if known is None else known
        key = keys[file.folders]
        if key is None:
            continue
        folder = "/".join(file.folders)
        partition = found.setdefault(key, FoundPartition(key, folder))
        if partition.folder != folder:
            keys[file.folders] = None
            note(
                notes, f"{folder!r:.300} is a second folder of {key!r:.200} beside {partition.folder!r:.300}"
            )
        elif _is_unfinished(file) and file.name != watch.marker:
            partition.unfinished = min(partition.unfinished or file.name, file.name)
        else:
            partition.files[file.name] = (file.size, file.stamp)
    if read is not None:
        read.clear()
        read.update({folders: key for folders, key in keys.items() if key is not None})
    return found


def _is_unfinished(file: FoundFile) -> bool:
    """Return whether a file is being written: no Parquet file is empty."""
    return not file.size or file.name.lower().endswith(TEMPORARY)


def _key(folders: tuple[str, ...], scheme: PartitionScheme | None, notes: list[str]) -> str | None:
    """Return the key of a folder; None, with a note, if it is not a partition's."""
    if scheme is None:
        return ""
    values = dict(found for folder in folders if (found := folder_value(folder)) is not None)
    if len(values) != len(folders) or set(values) != set(scheme.dimension_names()):
        alone = bare_key(scheme, values, [folder for folder in folders if "=" not in folder])
        if alone is not None:
            note(notes, bare_folder(scheme, repr("/".join(folders)), alone))
            return None
        wanted = "/".join(f"{name}=…" for name in scheme.dimension_names())
        note(notes, f"{'/'.join(folders)!r:.300} is not a partition's folder, such as {wanted}")
        return None
    key = read_key(scheme, values)
    if isinstance(key, str):
        return key
    note(notes, f"{'/'.join(folders)!r:.300} is not a partition: {key.summary:.300}; {key.hint}")
    return None


def begins_later(found: FoundPartition, scheme: PartitionScheme | None, now: datetime) -> bool:
    """Return whether a partition is of a period that has not begun: it is reported when it begins."""
    return scheme is not None and not_begun(scheme, found.key, now)


def waits_for(partition: FoundPartition, known: Files, watch: Watch) -> str | None:
    """Return what a partition waits for: "" if only time is missing, None if nothing of it is new."""
    new = changed(partition.files, known)
    if partition.unfinished and (new or not known):
        return f"{partition.unfinished!r:.200} is being written"
    if not new:
        return None
    if len(partition.files) > FILES_PER_PARTITION_MAX:
        return f"it has more than {FILES_PER_PARTITION_MAX:,} files: move old ones to another folder"
    if watch.marker and watch.marker not in new:
        return f"no {'new ' if watch.marker in known else ''}{watch.marker}"
    return ""
