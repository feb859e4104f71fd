"""A run of the fast tests alone does not load files that have none."""

from pathlib import Path

import pytest

from tests.tiers import is_left_out


@pytest.mark.parametrize(
    ("begin", "expression", "left_out"),
    [
        ("pytestmark = pytest.mark.spark  # why", "fast", True),
        ("pytestmark = [\n    pytest.mark.dagster,\n]", "fast and not hypothesis", True),
        ("pytestmark = pytest.mark.spark", "", False),
        ("pytestmark = pytest.mark.spark", "fast or spark", False),
        ('pytestmark = pytest.mark.usefixtures("x")', "fast", False),
        ("@pytest.mark.spark", "fast", False),
    ],
)
def test_files_that_mark_all_their_tests(begin: str, expression: str, left_out: bool, tmp_path: Path) -> None:
    file = tmp_path / "test_x.py"
    file.write_text(f"import pytest\n\n{begin}\ndef test_x() -> None: ...\n")
    assert is_left_out(file, expression) == left_out
