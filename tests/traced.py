"""The fast tests that `tests/test_coverage.py` runs traced: where it is run too, they are not run twice.

It is a plugin of pytest, which tests/conftest.py registers.
"""

from pathlib import Path

import pytest

from tests.tiers import FAST

FOLDERS = ("tests/domain", "tests/compiler", "tests/golden", "tests/hostile", "tests/scheduler")
FIXED = f"{FAST} and not hypothesis"
"""Those that draw examples are left to the plain run: what is covered must not be a matter of chance."""

ROOT = Path(__file__).parent.parent
RUNNER = ROOT / "tests/test_coverage.py"


@pytest.hookimpl(trylast=True)  # after the options -m and -k
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the traced run plays."""
    if any(item.path == RUNNER for item in items):
        traced = [item for item in items if _is_traced(item)]
        config.hook.pytest_deselected(items=traced)
        items[:] = [item for item in items if not _is_traced(item)]


def _is_traced(item: pytest.Item) -> bool:
    marks = {mark.name for mark in item.iter_markers()}
    inside = any(item.path.is_relative_to(ROOT / folder) for folder in FOLDERS)
    return inside and FAST in marks and "hypothesis" not in marks
