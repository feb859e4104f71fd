"""The eight scenarios of the original design on a real PostgreSQL: the same timeline as in memory."""

from pathlib import Path

import pytest

from tests.databases import new_url
from tests.scheduler.simulation.stories import ORIGINAL, compilation
from tidegate.scheduler.simulation.play import play
from tidegate.scheduler.store.open import open_store

APP = compilation().apps[ORIGINAL]


@pytest.mark.store
@pytest.mark.parametrize("scenario", APP.scenarios, ids=lambda scenario: scenario.name)
def test_it_plays_the_same(scenario, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    store = open_store(new_url("postgres", request, tmp_path))
    on_server = play(scenario, APP, store)
    store.close()
    assert on_server == play(scenario, APP)
