"""A watcher that dies at any call, statement or commit, and begins again: each landing is one event."""

from pathlib import Path

import pytest

from tests.databases import new_url
from tests.doubles.faulty_store import Crash, FaultyStore
from tests.watcher.landing import NORTH, SOUTH, Landing
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store


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


def stored(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if kind == "memory" else open_store(new_url(kind, request, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", pytest.param("sqlite", marks=pytest.mark.store)])
def test_a_crash_at_any_point_makes_each_landing_one_event(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    points, expected = outcome(Landing(tmp_path / "whole", store=stored(kind, request, tmp_path)), None)
    assert [key for key, _ in expected] == [NORTH, SOUTH, NORTH]

    for point in range(1, points + 1):
        landing = Landing(tmp_path / str(point), store=stored(kind, request, tmp_path))
        assert outcome(landing, point)[1] == expected, point
        landing.store.close()
