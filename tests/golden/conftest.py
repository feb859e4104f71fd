"""`pytest tests/golden --update-golden` writes the golden files again; then read the difference."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what the compiler says now")
