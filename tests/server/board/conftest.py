"""The board of the tests."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser import launched
from tests.server.board.board import fill
from tests.server.serving import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def board(server: Served) -> Served:
    """A board with two jobs, see `fill`."""
    return fill(server)


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """A headless browser for the tests of a file."""
    with launched() as started:
        yield started
