"""Measures of a table's health: their units, and from where on each is an issue (docs/maintenance.md)."""

from typing import Literal

from tidegate.domain.size import MB
from tidegate.domain.value import Value

Unit = Literal["percent", "count", "bytes", "seconds", "ratio", "factor"]

DAY = 86_400.0


class Measure(Value, kw_only=True):
    """One measure.

    Attributes:
        unit: of its numbers, in thresholds and in what is measured.
        issue: from where on it is a warning, and critical; None if it never is one.
    """

    unit: Unit
    issue: tuple[float, float] | None = None


MEASURES: dict[str, Measure] = {
    "small_file_percent": Measure(unit="percent", issue=(20, 50)),
    "small_files": Measure(unit="count"),
    "large_file_percent": Measure(unit="percent", issue=(20, 50)),
    "files": Measure(unit="count", issue=(10_000, 50_000)),
    "total_size": Measure(unit="bytes"),
    "delete_files": Measure(unit="count", issue=(100, 500)),
    "delete_ratio": Measure(unit="ratio", issue=(0.10, 0.25)),
    "snapshots": Measure(unit="count", issue=(100, 500)),
    "oldest_snapshot_age": Measure(unit="seconds", issue=(7 * DAY, 30 * DAY)),
    "newest_snapshot_age": Measure(unit="seconds", issue=(7 * DAY, 30 * DAY)),
    "partitions": Measure(unit="count", issue=(5_000, 10_000)),
    "partition_skew": Measure(unit="factor", issue=(3, 10)),
    "manifests": Measure(unit="count", issue=(100, 500)),
    "manifest_size": Measure(unit="bytes", issue=(100 * MB, 500 * MB)),
}
"""Every measure, by its name in `when`, `health.thresholds` and `examples`."""

HEALTHY: dict[str, float] = {
    "small_file_percent": 0,
    "small_files": 0,
    "large_file_percent": 0,
    "files": 10,
    "total_size": 10 * 256 * MB,
    "delete_files": 0,
    "delete_ratio": 0,
    "snapshots": 3,
    "oldest_snapshot_age": 0,
    "newest_snapshot_age": 0,
    "partitions": 1,
    "partition_skew": 1,
    "manifests": 1,
    "manifest_size": MB,
}
"""What is measured of the healthy table of the examples."""
