"""The tiers of the tests, each a mark: fast, store, dagster, spark, endurance.

A test carries the marks of what it needs; one without any is fast, and gets that mark here. So
`pytest -m fast` is what `make check` runs, and `pytest -m "store and not endurance"` says what it means.
Workers take whole files, the files with the longest tests first: then no worker has a long one
left when the others are done. Tests with the mark `soak` do not run before `tests.effort` is more than 1,
and those with the mark `iceberg` only with a Spark for which Iceberg's runtime is installed.
"""

import re
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test

from tests.effort import EFFORT

TIERS = ("endurance", "spark", "dagster", "store")
"""From the longest to the shortest; what is none of them is fast."""

FAST = "fast"

SLOW = "slow"

SLOW_FILE = re.compile(rf"^pytestmark = \[?\s*pytest\.mark\.({'|'.join((*TIERS, SLOW))})\b", re.MULTILINE)
"""A file that marks all its tests begins so; it often loads Dagster, or what comes with Spark."""


def is_left_out(path: Path, expression: str) -> bool:
    """Whether the option -m wants fast tests only and a file has none, so that it need not be loaded."""
    only_fast = expression == FAST or expression.startswith(f"{FAST} and ")
    marked = SLOW_FILE.search(path.read_text("utf-8")) if only_fast and path.suffix == ".py" else None
    return marked is not None and (marked[1] != SLOW or f"not {SLOW}" in expression.split(" and "))


SOAK = "soak"
ICEBERG = "iceberg"
ICEBERG_MARK = f"{ICEBERG}: has tables of Iceberg; left out with a Spark for which no runtime is installed"
"""A test whose name, parameter or folder says so counts as marked."""


@lru_cache(maxsize=1)
def has_iceberg() -> bool:
    """Return whether the installed Spark has a runtime of Iceberg: `make test SPARK=4` has none."""
    from tidegate.spark_jobs.iceberg.catalog.runtime import is_present

    return is_present("", {})


def needs_iceberg(item: pytest.Item) -> bool:
    """Return whether a test has tables of Iceberg."""
    return ICEBERG in item.nodeid or item.get_closest_marker(ICEBERG) is not None


def take_out(items: list[pytest.Item], expression: str = "", *, effort: float = EFFORT) -> list[pytest.Item]:
    """Take out, and return, the tests that prove something again, unless the effort is more than usual.

    So are tests of Iceberg where the installed Spark has none, and tests with Hypothesis where the option -m
    does not want them: if Hypothesis sees one, it looks for constants in every module that is loaded, for one
    or two seconds.
    """
    unwanted = is_without_hypothesis(expression)
    out = [
        item
        for item in items
        if (effort <= 1 and item.get_closest_marker(SOAK))
        or (needs_iceberg(item) and not has_iceberg())
        or (unwanted and isinstance(item, pytest.Function) and is_hypothesis_test(item.obj))
    ]
    if out:
        left_out = set(out)
        items[:] = [item for item in items if item not in left_out]
    return out


def is_without_hypothesis(expression: str) -> bool:
    """Whether the option -m plainly says so."""
    return not re.search(r"\bor\b|[()]", expression) and "not hypothesis" in expression.split(" and ")


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
