"""`pytest tests/simulation --soak-minutes 30` plays fresh seeds for half an hour; without it, a few."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak-minutes", type=float, default=0.0, help="play fresh seeds of the simulation for so long"
    )


@pytest.fixture
def soak_minutes(request: pytest.FixtureRequest) -> float:
    """How long fresh seeds are to be played; 0 for the usual few."""
    return float(request.config.getoption("--soak-minutes", default=0.0))
