"""The partitions of a Parquet table that a compaction makes better, and the folders of each that it replaces.

A folder belongs to one publish and has whole files. It is replaced if it has a small file. A partition is
compacted if so many small files come together, and fewer files result.

A partition that does not have the files of its publishes is damaged, and left as it is: its folders show what
is missing, or was put there by others, and can be restored. The compacted rows would be what they are now.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.parquet.folders.publish_folder import data_files, harm_of
from tidegate.spark_jobs.parquet.partition_entry import PartitionEntry
from tidegate.spark_jobs.parquet.version_log import TableVersion, head

SMALL_SHARE = 0.75
"""A file is small below this share of the target, as it is for Iceberg."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """Folders of a partition, and how many files they become.

    Attributes:
        folders: relative to the table's root.
        files: number of their data files.
        bytes: size of these.
        outputs: number of files that are written.
    """

    key: str
    folders: tuple[str, ...]
    files: int
    bytes: int
    outputs: int


class Findings(NamedTuple):
    """What was found in a version.

    Attributes:
        candidates: the partitions that are worth compacting.
        damaged: what has happened to others, by key.
    """

    candidates: list[Candidate]
    damaged: dict[str, str]


def find_candidates(
    files: FileSystem,
    root: str,
    version: TableVersion,
    options: Mapping[str, Any],
    excluded: Collection[str],
) -> Findings:
    """Look for the partitions of a version that are worth compacting.

    Args:
        options: all that have a default.
        excluded: keys of the partitions to leave out.
    """
    target = int(options["target_file_size"])
    rewrites_all = bool(options["rewrite_all"])
    least = 1 if rewrites_all else int(options["min_input_files"])
    limit = float("inf") if rewrites_all else SMALL_SHARE * target
    findings = Findings([], {})
    for key, entry in sorted(version.partitions.items()):
        if key in excluded or entry.files < least:
            continue
        found = {folder: list(data_files(files, f"{root}/{folder}").values()) for folder in entry.folders}
        if not _is_whole(entry, found):
            if head(files, root).partitions.get(key) == entry:
                findings.damaged[key] = _harm(files, root, entry)
            # Otherwise it was published into meanwhile, and its folders may be gone.
            continue
        chosen = {folder: sizes for folder, sizes in found.items() if any(size < limit for size in sizes)}
        sizes = [size for one in chosen.values() for size in one]
        outputs = max(1, ceil(sum(sizes) / target))
        if sum(size < limit for size in sizes) >= least and outputs < len(sizes):
            findings.candidates.append(
                Candidate(key=key, folders=tuple(chosen), files=len(sizes), bytes=sum(sizes), outputs=outputs)
            )
    return findings


def _is_whole(entry: PartitionEntry, found: Mapping[str, list[int]]) -> bool:
    """Return whether the sizes of a partition's files, by folder, agree with what was published."""
    sizes = [size for one in found.values() for size in one]
    return (len(sizes), sum(sizes)) == (entry.files, entry.bytes)


def _harm(files: FileSystem, root: str, entry: PartitionEntry) -> str:
    for folder in entry.folders:
        harm = harm_of(files, f"{root}/{folder}")
        if harm is not None:
            return f"{folder}, {harm}"
    return f"{', '.join(entry.folders)}: not {entry.files} files of {entry.bytes} bytes in all"
