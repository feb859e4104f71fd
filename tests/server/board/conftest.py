"""The board of the tests."""

import pytest

from tests.server.board.board import fill
from tests.server.serving import Served


@pytest.fixture
def board(server: Served) -> Served:
    """A board with two jobs, see `fill`."""
    return fill(server)
