"""A run of the fast tests does not load files that have none; what proves something again is for a soak."""

from pathlib import Path

import pytest
from hypothesis import given, strategies

from tests.tiers import is_left_out, take_out


@pytest.mark.parametrize(
    ("begin", "expression", "left_out"),
    [
        ("pytestmark = pytest.mark.spark  # why", "fast", True),
        ("pytestmark = [\n    pytest.mark.dagster,\n]", "fast and not hypothesis", True),
        ("pytestmark = pytest.mark.spark", "", False),
        ("pytestmark = pytest.mark.slow", "fast and not hypothesis and not slow", True),
        ("pytestmark = pytest.mark.slow", "fast and not hypothesis", False),
        ("pytestmark = pytest.mark.spark", "fast or spark", False),
        ('pytestmark = pytest.mark.usefixtures("x")', "fast", False),
        ("@pytest.mark.spark", "fast", False),
    ],
)
def test_files_that_mark_all_their_tests(begin: str, expression: str, left_out: bool, tmp_path: Path) -> None:
    file = tmp_path / "test_x.py"
    file.write_text(f"import pytest\n\n{begin}\ndef test_x() -> None: ...\n")
    assert is_left_out(file, expression) == left_out


@pytest.mark.soak
def proves_again() -> None: ...


def test_what_proves_something_again_runs_with_more_effort(request: pytest.FixtureRequest) -> None:
    once = request.node
    again = pytest.Function.from_parent(once.parent, name="proves_again", callobj=proves_again)
    items = [once, again]
    assert (take_out(items, effort=5), items) == ([], [once, again])
    assert (take_out(items, effort=1), items) == ([again], [once])


@given(strategies.none())
def tries_values(_: None) -> None: ...


@pytest.mark.parametrize(
    ("expression", "taken_out"),
    [
        ("fast and not hypothesis and not slow", True),
        ("not hypothesis", True),
        ("", False),
        ("fast", False),
        ("hypothesis", False),
        ("fast and not hypothesis or store", False),
        ("not (fast and not hypothesis)", False),
    ],
)
def test_hypothesis_sees_no_test_of_its_own_where_none_is_wanted(
    expression: str, taken_out: bool, request: pytest.FixtureRequest
) -> None:
    plain = request.node
    tries = pytest.Function.from_parent(plain.parent, name="tries_values", callobj=tries_values)
    items = [plain, tries]
    assert take_out(items, expression) == ([tries] if taken_out else [])
    assert items == ([plain] if taken_out else [plain, tries])
