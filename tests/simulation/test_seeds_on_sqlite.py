"""Hundreds of histories on SQLite, in which the process dies at its statements, commits and after them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doubles.quick_sqlite import quick_sqlite, wipe
from tests.simulation.history import history
from tests.tally import PROMISED, reach
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = pytest.mark.endurance  # the database runs every statement of hundreds of histories

SEEDS = PROMISED["simulated histories on SQLite"]
LOT = 25
STEPS = 50
FAULT_RATE = 0.35


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
    opened = quick_sqlite(Path(tmp_path_factory.mktemp("seeds")))
    yield opened
    opened.close()


@pytest.mark.parametrize("first", range(1000, 1000 + SEEDS, LOT))
def test_the_promises_are_kept_on_sqlite(first: int, store: SqlStore) -> None:
    crashes, seeds = 0, range(first, min(first + LOT, 1000 + SEEDS))
    for seed in seeds:
        wipe(store)
        faulty = history(store, seed, steps=STEPS, rate=FAULT_RATE, after_commit=True).store
        crashes += faulty.crashes
        reach("simulated histories on SQLite")
        reach("crashes in them", faulty.crashes)
        reach("errors of the database in them", faulty.errors)
    assert crashes >= len(seeds) * PROMISED["crashes in them"] / SEEDS
