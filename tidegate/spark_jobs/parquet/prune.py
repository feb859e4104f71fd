"""Removes old versions of a table, and folders that no kept version refers to.

It runs after some publishes. It may be interrupted at any point and run again. It must never
remove the last `KEEP_VERSIONS` versions, the folders they refer to, or anything that an
unfinished sequence has moved into place or needs as evidence. The order of the reads
makes that safe beside a running publish: folders first, then the unfinished sequences,
then the versions. A folder from the first read belongs to a sequence that is still
unfinished in the second, or to a version in the third.
"""

from collections.abc import Iterator
from typing import NamedTuple

from tidegate.domain.commit_store import CommitStepStore
from tidegate.spark_jobs.commit.sequence import CommitSequence, decode_sequence
from tidegate.spark_jobs.files.filesystem import FileSystem, is_data
from tidegate.spark_jobs.parquet.folders.copy_folder import CopyFolder
from tidegate.spark_jobs.parquet.folders.publish_folder import PublishFolder
from tidegate.spark_jobs.parquet.merge import SURVIVORS_MARK
from tidegate.spark_jobs.parquet.output import DATA_FOLDER
from tidegate.spark_jobs.parquet.steps.compaction import PublishCompaction
from tidegate.spark_jobs.parquet.steps.merge import PublishMerge
from tidegate.spark_jobs.parquet.steps.version import PublishVersion
from tidegate.spark_jobs.parquet.version_log import (
    VERSIONS_FOLDER,
    read_version,
    version_file,
    version_numbers,
)
from tidegate.spark_jobs.parquet.view import prune_views

KEEP_VERSIONS = 50
"""A reader that began this many publishes ago still finds all its files."""
SURPLUS_VERSIONS = 20
"""Publishes between two prunings, because listing every folder of a large table takes time."""


def is_due(files: FileSystem, root: str) -> bool:
    """Return whether enough versions have accumulated."""
    return len(version_numbers(files, root)) >= KEEP_VERSIONS + SURPLUS_VERSIONS


class Pruned(NamedTuple):
    """What was removed.

    Attributes:
        versions, folders: how many.
        oldest_base: this version and all after it are kept for unfinished sequences; None without any.
    """

    versions: int
    folders: int
    oldest_base: int | None


class Unfinished:
    """The folders and versions that the unfinished sequences of a table still need."""

    def __init__(self, root: str, sequences: tuple[CommitSequence, ...]) -> None:
        steps = [step for sequence in sequences for step in sequence.steps]
        self._folders = frozenset(
            step.target for step in steps if isinstance(step, PublishFolder | CopyFolder)
        )
        mine = [
            step for step in steps if isinstance(step, PublishVersion | PublishMerge) and step.root == root
        ]
        # The version at the begin of a run is compared with the one that its publish replaces.
        begun = [min(step.base, step.state.number) for step in mine]
        begun += [step.base for step in steps if isinstance(step, PublishCompaction) and step.root == root]
        self.oldest_base = min(begun, default=None)

    def needs(self, folder: str) -> bool:
        """Return whether one of the sequences has moved this folder into place or created it in a merge."""
        where, _, name = folder.rpartition("/")
        return f"{where}/{name.partition(SURVIVORS_MARK)[0]}" in self._folders


def prune_table(
    files: FileSystem, root: str, dataset: str, store: CommitStepStore, *, oldest: int | None = None
) -> Pruned:
    """Read what the unfinished sequences of a table need, in the order that is safe, and remove the rest.

    Args:
        oldest: see `prune`.
    """
    folders = version_folders(files, root)
    bodies = [store.get(commit) for commit in store.list_unfinished(dataset)]
    unfinished = Unfinished(root, tuple(decode_sequence(body) for body in bodies if body is not None))
    versions, gone = prune(files, root, folders, unfinished, oldest=oldest)
    return Pruned(versions, gone, unfinished.oldest_base)


def version_folders(files: FileSystem, root: str) -> tuple[str, ...]:
    """Return every published folder of the table, referred to or not. Read this first, see above."""
    return tuple(_version_folders(files, f"{root}/{DATA_FOLDER}"))


def prune(
    files: FileSystem,
    root: str,
    folders: tuple[str, ...],
    unfinished: Unfinished,
    *,
    oldest: int | None = None,
) -> tuple[int, int]:
    """Remove old versions and unused folders.

    Args:
        folders: from `version_folders`, read before `unfinished`.
        unfinished: read before this call.
        oldest: the oldest version to keep; None for the last `KEEP_VERSIONS`.

    Returns:
        The numbers of removed versions and of removed folders.
    """
    numbers = version_numbers(files, root)
    if not numbers:
        return 0, 0
    oldest_kept = numbers[-KEEP_VERSIONS:][0] if oldest is None else min(oldest, numbers[-1])
    if unfinished.oldest_base is not None:
        # A slow publisher may be about to create base + 1: that file must keep existing.
        oldest_kept = min(oldest_kept, max(unfinished.oldest_base, 1))
    _delete_hidden(files, root, below=numbers[-1])
    gone = [number for number in numbers if number < oldest_kept]
    for number in gone:
        files.delete(version_file(root, number))
    named = set[str]()
    for number in version_numbers(files, root):
        version = read_version(files, root, number)
        if version is not None:
            named |= {f"{root}/{path}" for entry in version.partitions.values() for path in entry.folders}
    unnamed = [folder for folder in folders if folder not in named and not unfinished.needs(folder)]
    for folder in unnamed:
        files.delete(folder)
    prune_views(files, root, oldest_kept)
    return len(gone), len(unnamed)


def _version_folders(files: FileSystem, folder: str) -> Iterator[str]:
    """Yield the folders of commits: those without "=", which the others have."""
    for entry in files.list(folder):
        if not entry.is_folder or not is_data(entry.name):
            continue
        if "=" not in entry.name:
            yield f"{folder}/{entry.name}"
        else:
            yield from _version_folders(files, f"{folder}/{entry.name}")


def _delete_hidden(files: FileSystem, root: str, below: int) -> None:
    """Remove half-written version files of numbers that exist."""
    for entry in files.list(f"{root}/{VERSIONS_FOLDER}"):
        number = entry.name[1:].partition(".")[0]
        if entry.name.startswith(".") and number.isdigit() and int(number) <= below:
            files.delete(f"{root}/{VERSIONS_FOLDER}/{entry.name}")
