"""The numbers of a table's data files, from which most measures follow. Pure."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import sqrt
from typing import NamedTuple, TypeVar

from tidegate.domain.model import HealthRules

CONFIDENCE_95 = 1.96
"""Standard deviations within which a sample lies in 95 of 100 cases."""


T = TypeVar("T")


class File(NamedTuple):
    """A data file: where it is, its size in bytes, and its rows."""

    partition: Hashable
    size: int
    rows: int


class FileCounts(NamedTuple):
    """Counts over data files.

    Attributes:
        small, large: numbers of files below and above the sizes of the policy.
        size: bytes of all files.
        partitions: number of partitions that have files.
        fullest: number of files in the partition that has most.
    """

    files: int = 0
    small: int = 0
    large: int = 0
    size: int = 0
    rows: int = 0
    partitions: int = 0
    fullest: int = 0


def count_files(files: Iterable[File], rules: HealthRules) -> FileCounts:
    """Return the counts of some files."""
    found = list(files)
    partitions = Counter(file.partition for file in found)
    return FileCounts(
        files=len(found),
        small=sum(file.size < rules.small_file for file in found),
        large=sum(file.size > rules.large_file for file in found),
        size=sum(file.size for file in found),
        rows=sum(file.rows for file in found),
        partitions=len(partitions),
        fullest=max(partitions.values(), default=0),
    )


def spread(found: Sequence[T], count: int) -> Sequence[T]:
    """Return so many of some things, taken evenly from all of them; all if there are not more."""
    if len(found) <= count:
        return found
    return [found[number * len(found) // count] for number in range(count)]


def extrapolated(sample: FileCounts, files: int) -> tuple[FileCounts, str]:
    """Return the counts of a table of so many files from those of a sample, and a note on their bound.

    The number of partitions is that of the sample, since nothing shows how many others there are.
    """
    if not sample.files or sample.files >= files:
        return sample, ""
    factor, share = files / sample.files, sample.files / files
    margin = 100 * CONFIDENCE_95 * sqrt(0.25 / sample.files * (1 - share))
    counts = FileCounts(
        files=files,
        small=round(sample.small * factor),
        large=round(sample.large * factor),
        size=round(sample.size * factor),
        rows=round(sample.rows * factor),
        partitions=sample.partitions,
        fullest=round(sample.fullest * factor),
    )
    return counts, (
        f"from {sample.files} of {files} files: percentages are within {margin:.1f} points, if these files "
        f"are like the others; there are at least {sample.partitions} partitions"
    )


def values_of(counts: FileCounts) -> dict[str, float]:
    """Return the measures that follow from the counts. A table without files has no skew."""
    values: dict[str, float] = {
        "files": counts.files,
        "small_files": counts.small,
        "total_size": counts.size,
        "partitions": counts.partitions,
        "small_file_percent": 100 * counts.small / counts.files if counts.files else 0,
        "large_file_percent": 100 * counts.large / counts.files if counts.files else 0,
    }
    if counts.partitions:
        values["partition_skew"] = counts.fullest * counts.partitions / counts.files
    return values
