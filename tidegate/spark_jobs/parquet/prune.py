"""Removes old versions of a table, and the folders that nothing names any more.

Run after a publish, now and then. It may die anywhere and be run again. What it must never
remove: the last `KEEP_VERSIONS` versions, the folders they name, and whatever an
unfinished sequence has put in place or needs as evidence. The order of looking is what
makes that safe beside a running publish: folders first, then the unfinished sequences,
then the versions. A folder seen in the first look belongs to a sequence that is still
unfinished in the second, or has its version in the third.
"""

from collections.abc import Iterator

from tidegate.spark_jobs.commit.sequence import CommitSequence
from tidegate.spark_jobs.files.filesystem import FileSystem, is_data
from tidegate.spark_jobs.parquet.merge import SURVIVORS_MARK
from tidegate.spark_jobs.parquet.output import DATA_FOLDER
from tidegate.spark_jobs.parquet.steps.copy_folder import CopyFolder
from tidegate.spark_jobs.parquet.steps.publish_folder import PublishFolder
from tidegate.spark_jobs.parquet.steps.publish_merge import PublishMerge
from tidegate.spark_jobs.parquet.steps.publish_version import PublishVersion
from tidegate.spark_jobs.parquet.version_log import (
    VERSIONS_FOLDER,
    read_version,
    version_file,
    version_numbers,
)

KEEP_VERSIONS = 50
"""A reader that began this many publishes ago still finds all its files."""
SURPLUS_VERSIONS = 20
"""Looking at every folder costs time on a large table: only so many publishes later it is done again."""


def due(files: FileSystem, root: str) -> bool:
    """Whether enough versions have gathered."""
    return len(version_numbers(files, root)) >= KEEP_VERSIONS + SURPLUS_VERSIONS


class Unfinished:
    """What the unfinished sequences of a table still need."""

    def __init__(self, root: str, sequences: tuple[CommitSequence, ...]) -> None:
        steps = [step for sequence in sequences for step in sequence.steps]
        self._folders = frozenset(
            step.target for step in steps if isinstance(step, PublishFolder | CopyFolder)
        )
        self.oldest_base = min(
            (
                step.base
                for step in steps
                if isinstance(step, PublishVersion | PublishMerge) and step.root == root
            ),
            default=None,
        )

    def needs(self, folder: str) -> bool:
        """Whether one of the sequences has put this folder in place, or has made it for a merge."""
        where, _, name = folder.rpartition("/")
        return f"{where}/{name.partition(SURVIVORS_MARK)[0]}" in self._folders


def version_folders(files: FileSystem, root: str) -> tuple[str, ...]:
    """Every published folder of the table, named or not. Take this first, see above."""
    return tuple(_version_folders(files, f"{root}/{DATA_FOLDER}"))


def prune(
    files: FileSystem, root: str, folders: tuple[str, ...], unfinished: Unfinished, keep: int = KEEP_VERSIONS
) -> tuple[int, int]:
    """Removes what may go.

    Args:
        folders: from `version_folders`, taken before `unfinished`.
        unfinished: taken before this call.

    Returns:
        How many versions and how many folders were removed.
    """
    numbers = version_numbers(files, root)
    if not numbers:
        return 0, 0
    oldest_kept = numbers[-keep:][0]
    if unfinished.oldest_base is not None:
        # A slow publisher may be about to create base + 1: that name must stay taken.
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
    return len(gone), len(unnamed)


def _version_folders(files: FileSystem, folder: str) -> Iterator[str]:
    for entry in files.list(folder):
        if not entry.is_folder or not is_data(entry.name):
            continue
        if entry.name.startswith("v="):
            yield f"{folder}/{entry.name}"
        else:
            yield from _version_folders(files, f"{folder}/{entry.name}")


def _delete_hidden(files: FileSystem, root: str, below: int) -> None:
    """Removes half-written version files of numbers that are taken."""
    for entry in files.list(f"{root}/{VERSIONS_FOLDER}"):
        number = entry.name[1:].partition(".")[0]
        if entry.name.startswith(".") and number.isdigit() and int(number) <= below:
            files.delete(f"{root}/{VERSIONS_FOLDER}/{entry.name}")
