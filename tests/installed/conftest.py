"""The wheel of this checkout, built once, and an environment in which it is installed."""

from pathlib import Path

import pytest

from tests.installed.environment import Installed, build_wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Installed:
    """An environment with the wheel in it."""
    return Installed(tmp_path_factory.mktemp("clean") / "environment", wheel)
