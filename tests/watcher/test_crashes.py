"""A watcher that dies at any call, statement or commit, and begins again: each landing is one event.

In memory it dies at each of these points, on SQLite in an ordinary run at each fifth.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.doubles.faulty_store import Crash, FaultyStore
from tests.doubles.quick_sqlite import quick_sqlite, wipe
from tests.effort import every
from tests.watcher.landing import NORTH, SOUTH, Landing
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.protocol import Store

POINTS_LEAST = 20


def outcome(landing: Landing, fail_at: int | None) -> tuple[int, list[tuple[str, int | None]]]:
    """Land, look, land more and look again, with one crash; return the points passed and the events."""
    faulty = FaultyStore(landing.store)
    landing.store = faulty
    faulty.fail_at = fail_at
    for name, folder in (("a", "north"), ("b", "south"), ("c", "north")):
        landing.land(f"{name}.parquet", "1" * len(landing.events() or "1"), f"day=2026-03-09/region={folder}")
        for _ in range(4):
            try:
                landing.after()
            except Crash:
                landing.restarted()
    faulty.release()
    return faulty.points, landing.events()


@pytest.mark.slow
def test_a_crash_at_any_point_makes_each_landing_one_event(tmp_path: Path) -> None:
    sweep(tmp_path, MemoryStore, each=1)


@pytest.mark.slow
@pytest.mark.store
def test_so_it_does_on_sqlite(tmp_path: Path) -> None:
    store = quick_sqlite(tmp_path)

    def emptied() -> Store:
        wipe(store)
        return store

    sweep(tmp_path, emptied, each=every(5))
    store.close()


def sweep(folder: Path, empty: Callable[[], Store], *, each: int) -> None:
    """Die at each n-th point of what a store does."""
    points, expected = outcome(Landing(folder / "whole", store=empty()), None)
    assert [key for key, _ in expected] == [NORTH, SOUTH, NORTH]
    chosen = range(1, points + 1, each)
    assert len(chosen) >= POINTS_LEAST

    for point in chosen:
        assert outcome(Landing(folder / str(point), store=empty()), point)[1] == expected, point
