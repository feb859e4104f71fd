"""`pytest tests/simulation --soak-minutes 30` plays fresh seeds for half an hour; without it, a few."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulation.sweep import Rewinding, RewindingMemory, RewindingSqlite


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--soak-minutes", type=float, default=0.0, help="play fresh seeds of the simulation for so long"
    )


@pytest.fixture
def soak_minutes(request: pytest.FixtureRequest) -> float:
    """How long fresh seeds are to be played; 0 for the usual few."""
    return float(request.config.getoption("--soak-minutes", default=0.0))


@pytest.fixture(params=["memory", pytest.param("sqlite", marks=pytest.mark.endurance)])
def rewinding(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rewinding]:
    """A store that a crash sweep puts back to where it was."""
    made = RewindingMemory() if request.param == "memory" else RewindingSqlite(tmp_path)
    yield made
    made.store.close()
