"""One project with Dagster for the live tests; one worker takes them (`tests/workers.py`).

A code server, a daemon and a Spark cost seconds of processor time each. The project has an app of schedules
(`live.py`), one of cycle tasks (`night.py`) and one with policies of maintenance (`yard.py`), and a second
project is its neighbour.
"""

from collections.abc import Iterator

import pytest

from tests.dagster_defs.live.live import Live
from tests.dagster_defs.live.neighbour import Neighbour
from tests.dagster_defs.live.night import Night
from tests.dagster_defs.live.yard import CONF, Yard


@pytest.fixture(scope="package")
def live_apps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Night, Yard]]:
    """The further apps of the project, whose processes run."""
    folder = tmp_path_factory.mktemp("live")
    live = Live(folder, CONF.format(folder=folder))
    apps = Night(live), Yard(live)
    neighbour = Neighbour(live)
    try:
        live.start(neighbour.start)
        yield apps
    finally:
        neighbour.processes.stop()
        live.stop()


@pytest.fixture(scope="package")
def live(live_apps: tuple[Night, Yard]) -> Live:
    night, _ = live_apps
    assert isinstance(night.project, Live)
    return night.project
