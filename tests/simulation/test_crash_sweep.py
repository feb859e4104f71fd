"""One long scenario, in which the process dies once at each point, each time in a history of its own.

In `make test` at each fourth or twelfth call, in a soak at all (see `every`).

A point is a call in a transaction (on SQLite a statement), the moment before a commit, and the one
after it. The history up to the step with the point is taken from a snapshot; then the process
dies, comes back and does the step again. What had not been committed must leave no trace: the
store is the same as after the undisturbed step, hence all that follows is. After a commit of
which no process heard the step is done twice; then the scenario is played to its end, where every job
must have come to the same end, for the same reason, with the same manifest.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests import effort
from tests.doubles.dump import dump
from tests.simulation.faulty_store import FaultyStore, Place
from tests.simulation.hands import Hands
from tests.simulation.long_scenario import START, Step, scenario
from tests.simulation.oracle.oracle import Oracle
from tests.simulation.quick_sqlite import quick_sqlite
from tests.tally import PROMISED, reach
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.store import SqlStore

pytestmark = pytest.mark.endurance  # hundreds of histories for each store


class Rewinding(Protocol):
    """A store that can be put back to where it was."""

    store: Store
    every: int
    """It dies at each n-th of the calls in transactions; and at each commit, and after each, in any case."""

    def snapshot(self) -> Any: ...

    def back_to(self, snapshot: Any) -> None: ...


class RewindingMemory:
    """Committed tables are never changed, so a reference to them is a snapshot."""

    every = effort.every(4)

    def __init__(self) -> None:
        self.store = MemoryStore()

    def snapshot(self) -> Any:
        return self.store.committed

    def back_to(self, snapshot: Any) -> None:
        self.store.committed = snapshot


class RewindingSqlite:
    """A snapshot is a copy of the database in memory."""

    every = effort.every(12)

    def __init__(self, folder: Path) -> None:
        self.store: SqlStore = quick_sqlite(folder)
        self._path = folder / "store.db"

    def snapshot(self) -> sqlite3.Connection:
        copied = sqlite3.connect(":memory:")
        self._connection().backup(copied)
        return copied

    def back_to(self, snapshot: sqlite3.Connection) -> None:
        snapshot.backup(self._connection())

    def _connection(self) -> Any:
        with self.store.engine.connect() as connection:
            return connection.connection.driver_connection


class Undisturbed:
    """The scenario without a crash: the state before and after each step, and its points."""

    def __init__(self, rewinding: Rewinding) -> None:
        self.steps: list[tuple[Step, Any, Hands, list[Place], Any]] = []
        hands = Hands(FaultyStore(rewinding.store), START)
        for step in scenario():
            before, hands_before = rewinding.snapshot(), hands.copy(hands.store)
            hands.store.places = []
            step(hands)
            self.steps.append((step, before, hands_before, hands.store.places, dump(hands.store)))
        self.end = essence(dump(hands.store))
        hands.store.release()


def essence(tables: Mapping[str, Any]) -> list[Any]:
    """How every job came out, and what became of every event.

    When a job was launched is not part of it, nor which run it got: a request that was lost leaves
    again later.
    """
    compared = ("id", "state", "reason", "satisfied_at", "attempt", "by_hand", "closed")
    jobs = [
        [*(job[name] for name in compared), (job["launch"] or {}).get("manifest")] for job in tables["jobs"]
    ]
    events = sorted(event["id"] for event in tables["events"] if event["kind"] != "run")
    deliveries = [each[:5] for each in tables["deliveries"] if not each[0].startswith("run:")]
    return [jobs, deliveries, tables["slots"], events]


@pytest.fixture(params=["memory", "sqlite"])
def rewinding(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rewinding]:
    made = RewindingMemory() if request.param == "memory" else RewindingSqlite(tmp_path)
    yield made
    made.store.close()


def test_a_crash_at_any_point_of_a_long_scenario_changes_nothing(rewinding: Rewinding) -> None:
    undisturbed = Undisturbed(rewinding)
    swept = 0
    for number, (step, before, hands, places, after) in enumerate(undisturbed.steps):
        for point, place in chosen(places, every=rewinding.every, first=number):
            rewinding.back_to(before)
            faulty = FaultyStore(rewinding.store)
            faulty.fail_at = point
            revived = hands.copy(faulty)
            step(revived)
            assert faulty.crashes == 1, f"step {number} never came to point {point}"
            if dump(faulty) != after:
                assert place == "committed", f"step {number}: the crash at point {point} left a trace"
                for rest, *_ in undisturbed.steps[number + 1 :]:
                    rest(revived)
                assert essence(dump(faulty)) == undisturbed.end, f"step {number}, point {point}"
                judge(faulty)
            faulty.release()
            swept += 1
    reach("points of the crash sweep", swept)
    assert swept >= PROMISED["points of the crash sweep"]


def chosen(places: list[Place], *, every: int, first: int) -> Iterator[tuple[int, Place]]:
    """The points, counted from 1, at which the process dies; they begin elsewhere in each step."""
    for point, place in enumerate(places, start=1):
        if place != "call" or (point + first) % every == 0:
            yield point, place


def judge(store: FaultyStore) -> None:
    """The journal of a history with a crash keeps every promise."""
    with store.reading() as reader:
        Oracle().read_all(reader.journal())
