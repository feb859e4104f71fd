"""The partitions of a Parquet table that a compaction makes better, and the folders of each that it replaces.

A folder belongs to one publish and has whole files. It is replaced if it has a small file. A partition is
compacted if so many small files come together, and fewer files result.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.parquet.steps.publish.folder import data_files
from tidegate.spark_jobs.parquet.version_log import TableVersion

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


def candidates(
    files: FileSystem,
    root: str,
    version: TableVersion,
    options: Mapping[str, Any],
    excluded: Collection[str],
) -> Iterator[Candidate]:
    """Yield the partitions of a version that are worth compacting.

    Args:
        options: all that have a default.
        excluded: keys of the partitions to leave out.
    """
    target = int(options["target_file_size"])
    rewrites_all = bool(options["rewrite_all"])
    least = 1 if rewrites_all else int(options["min_input_files"])
    limit = float("inf") if rewrites_all else SMALL_SHARE * target
    for key, entry in sorted(version.partitions.items()):
        if key in excluded or entry.files < least:
            continue
        found = {folder: list(data_files(files, f"{root}/{folder}").values()) for folder in entry.folders}
        chosen = {folder: sizes for folder, sizes in found.items() if any(size < limit for size in sizes)}
        sizes = [size for one in chosen.values() for size in one]
        outputs = max(1, ceil(sum(sizes) / target))
        if sum(size < limit for size in sizes) >= least and outputs < len(sizes):
            yield Candidate(
                key=key, folders=tuple(chosen), files=len(sizes), bytes=sum(sizes), outputs=outputs
            )
