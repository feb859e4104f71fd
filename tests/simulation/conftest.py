"""`pytest tests/simulation --soak-minutes 30` plays fresh seeds for half an hour; without it, a few.

The databases are those of tests/store: `sql_url` is a new one of each kind.
"""

import pytest

from tests.store.conftest import postgres_server as postgres_server
from tests.store.conftest import sql_url as sql_url


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak-minutes", type=float, default=0.0, help="play fresh seeds of the simulation for so long"
    )


@pytest.fixture
def soak_minutes(request: pytest.FixtureRequest) -> float:
    """How long fresh seeds are to be played; 0 for the usual few."""
    return float(request.config.getoption("--soak-minutes", default=0.0))
