"""The tests of the pages were gone on my machine, since it has no browser, and all was green.

A browser that is missing is an error with its remedy, never an empty list of tests.
"""

from pathlib import Path

import pytest

from tests.browser import REMEDY, VARIABLE, find_browser, install_browser


def test_a_browser_that_is_named_and_does_not_start_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one in its place would test what was not asked for."""
    monkeypatch.setenv(VARIABLE, str(Path("/nowhere/chromium")))
    assert find_browser() is None
    assert install_browser() is None


def test_the_error_says_what_to_do() -> None:
    assert "hint: " in REMEDY
    assert f"{VARIABLE}=" in REMEDY
