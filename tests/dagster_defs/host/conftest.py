"""The world that the tests of a file share."""

from collections.abc import Iterator

import pytest

from tests.dagster_defs.host.world import HostWorld, loaded_here


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostWorld]:
    """A world whose code location is loaded in this process; a file that needs a code server has its own."""
    with loaded_here(tmp_path_factory.mktemp("host")) as world:
        yield world


@pytest.fixture
def world(shared: HostWorld) -> HostWorld:
    """The shared world, in which no host is active and no job waits for an offer."""
    shared.lapse()
    shared.said.clear()
    return shared
