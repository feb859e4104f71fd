"""The server of a test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal

from tests.server.serving import PORTALS, Served, served
from tidegate.scheduler.store.open import open_store


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite store with nothing in it: to copy one is quicker than to migrate a new one."""
    file = tmp_path_factory.mktemp("empty") / "store.db"
    open_store(f"sqlite:///{file}").close()
    return file


@pytest.fixture(scope="session", autouse=True)
def portal() -> Iterator[None]:
    """Run the event loop of all clients."""
    with start_blocking_portal() as started:
        PORTALS.append(started)
        yield
        PORTALS.clear()


@pytest.fixture
def server(tmp_path: Path, empty_store: Path) -> Iterator[Served]:
    """A server of an empty project."""
    with served(tmp_path, empty=empty_store) as found:
        yield found
