"""One history means the same in every store: the engine plays it, and the dumps are equal to the last row.

The world of chance of tests/simulation is played on the store in memory and on another one, from one
seed: deployments, events, ticks, launches, runs and hands, in thousands of transactions. So is each
scenario of the user stories. Nothing in a dump may depend on where it is kept.
"""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.doubles.dump import dump
from tests.doubles.quick_sqlite import quick_sqlite, wipe
from tests.doubles.reference.store import ReferenceStore
from tests.effort import pick, some
from tests.simulation.history import history
from tidegate.compiler.compile import CompiledApp, compile_files
from tidegate.compiler.scenarios.model.scenario import Scenario
from tidegate.scheduler.simulation.play import play
from tidegate.scheduler.store.sql.store import SqlStore

STORIES = Path(__file__).parents[2] / "schedules" / "stories"
SEEDS = (0, 2, 3, 5)
STEPS = 60

LEAST_ENTRIES = 20
"""A history in which less was done would say little."""


def assert_same(tested: SqlStore, seed: int) -> None:
    reference = ReferenceStore()
    wipe(tested)
    worlds = [history(store, seed, steps=STEPS) for store in (reference, tested)]
    assert worlds[0].now == worlds[1].now
    assert len(dump(reference)["journal"]) > LEAST_ENTRIES
    assert dump(tested) == dump(reference)


@pytest.fixture
def sqlite(tmp_path: Path) -> Generator[SqlStore, None, None]:
    """An empty store in SQLite."""
    store = quick_sqlite(tmp_path)
    yield store
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", pick(SEEDS, 2))
def test_the_world_of_chance_ends_the_same_in_sqlite(sqlite: SqlStore, seed: int) -> None:
    assert_same(sqlite, seed)


@pytest.mark.store
@pytest.mark.parametrize("seed", pick(SEEDS, 1))
def test_the_world_of_chance_ends_the_same_in_postgres(postgres: SqlStore, seed: int) -> None:
    assert_same(postgres, seed)


def scenarios() -> list[tuple[CompiledApp, Scenario]]:
    """Every scenario of the stories."""
    files = {str(path): path.read_bytes() for path in sorted(STORIES.rglob("*.yaml"))}
    compiled = compile_files(files, drafts=files).apps.values()
    return [(app, scenario) for app in compiled for scenario in app.scenarios]


def assert_stories_same(tested: SqlStore, stories: list[tuple[CompiledApp, Scenario]]) -> None:
    for app, scenario in stories:
        reference = ReferenceStore()
        wipe(tested)
        beside = Path(app.file).parent
        played, expected = (
            play(scenario, app, store, read_file=lambda name, beside=beside: (beside / name).read_bytes())
            for store in (tested, reference)
        )
        assert played == expected, scenario.name
        assert dump(tested) == dump(reference), scenario.name


@pytest.mark.endurance  # dozens of scenarios, each with days of ticks, which are transactions
def test_the_stories_end_the_same_in_sqlite(sqlite: SqlStore) -> None:
    assert len(scenarios()) >= 24
    assert_stories_same(sqlite, some(scenarios(), 2))


@pytest.mark.store
@pytest.mark.endurance  # each story in a soak
def test_the_first_scenario_of_each_story_ends_the_same_in_postgres(postgres: SqlStore) -> None:
    first = {app.app.name: (app, scenario) for app, scenario in reversed(scenarios())}
    assert_stories_same(postgres, some(first.values(), 2))
