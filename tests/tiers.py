"""The tiers of the tests, each a mark: fast, store, dagster, spark, endurance.

A test carries the marks of what it needs; one without any is fast, and gets that mark here. So
`pytest -m fast` is what `make check` runs, and `pytest -m "store and not endurance"` says what it means.
Workers take whole files, the files with the longest tests first: then no worker has a long one
left when the others are done.
"""

import pytest

TIERS = ("endurance", "spark", "dagster", "store")
"""From the longest to the shortest; what is none of them is fast."""

FAST = "fast"


def arrange(items: list[pytest.Item]) -> None:
    """Mark the fast tests, and sort the files by their longest tier; within a file the order stays."""
    files: dict[object, int] = {}
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        rank = min((place for place, tier in enumerate(TIERS) if tier in marks), default=len(TIERS))
        if rank == len(TIERS):
            item.add_marker(FAST)
        files[item.path] = min(rank, files.get(item.path, rank))
    items.sort(key=lambda item: files[item.path])
