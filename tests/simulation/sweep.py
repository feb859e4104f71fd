"""What the crash sweeps share: stores that go back, and the scenario with one crash at each of its points."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests import effort
from tests.doubles.dump import dump
from tests.doubles.faulty_store import FaultyStore, Place
from tests.doubles.quick_sqlite import quick_sqlite
from tests.doubles.reference.store import ReferenceStore
from tests.simulation.hands import Hands
from tests.simulation.long_scenario import Step
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql.store import SqlStore

STORES = effort.only(["memory", pytest.param("sqlite", marks=pytest.mark.endurance)], "memory")
"""On SQLite in a soak: test_seeds_on_sqlite.py has crashes there, and store/test_rename_crashes.py one before
each statement of a long transaction."""

Essence = Callable[[Mapping[str, Any]], list[Any]]
"""How all has come out, of the tables of a store."""


class Rewinding(Protocol):
    """A store that can be put back to where it was."""

    store: Store
    every: int
    """It dies at each n-th of the calls in transactions; and at each commit, and after each, in any case."""
    replayed: int
    """Each n-th of the histories in which a step was done twice is played to its end."""

    def snapshot(self) -> Any: ...

    def back_to(self, snapshot: Any) -> None: ...


class RewindingMemory:
    """Committed tables are never changed, so a reference to them is a snapshot."""

    every = effort.every(20)
    replayed = 1

    def __init__(self) -> None:
        self.store = ReferenceStore()

    def snapshot(self) -> Any:
        return self.store.committed

    def back_to(self, snapshot: Any) -> None:
        self.store.committed = snapshot


class RewindingSqlite:
    """A snapshot is a copy of the database in memory."""

    every = effort.every(70)
    replayed = effort.every(6)

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
    """A scenario without a crash: the state before and after each step, and its points."""

    def __init__(
        self, rewinding: Rewinding, scenario: Iterable[Step], start: datetime, essence: Essence
    ) -> None:
        self.steps: list[tuple[Step, Any, Hands, list[Place], Any]] = []
        self.essence = essence
        self._rewinding = rewinding
        self.hands = Hands(FaultyStore(rewinding.store), start)
        for step in scenario:
            before, hands_before = rewinding.snapshot(), self.hands.copy(self.hands.store)
            self.hands.store.places = []
            step(self.hands)
            after = dump(self.hands.store)
            self.steps.append((step, before, hands_before, self.hands.store.places, after))
        self.end = essence(after)
        self.hands.store.release()

    def swept(self, judge: Callable[[FaultyStore], None], *, every: int) -> int:
        """Let the process die at each chosen point of each step; return the number of points.

        Args:
            judge: judges the journal of a history that goes on after a commit of which no process heard.
            every: see `chosen`.
        """
        swept = twice = 0
        for number, (step, before, hands, places, after) in enumerate(self.steps):
            for point, place in chosen(places, every=every, first=number):
                self._rewinding.back_to(before)
                faulty = FaultyStore(self._rewinding.store)
                faulty.fail_at = point
                revived = hands.copy(faulty)
                step(revived)
                assert faulty.crashes == 1, f"step {number} never came to point {point}"
                if dump(faulty) != after:
                    assert place == "committed", f"step {number}: the crash at point {point} left a trace"
                    twice += 1
                    if twice % self._rewinding.replayed == 0:
                        for rest, *_ in self.steps[number + 1 :]:
                            rest(revived)
                        assert self.essence(dump(faulty)) == self.end, f"step {number}, point {point}"
                        judge(faulty)
                faulty.release()
                swept += 1
        return swept


def chosen(places: list[Place], *, every: int, first: int) -> Iterator[tuple[int, Place]]:
    """The points, counted from 1, at which the process dies; they begin elsewhere in each step."""
    for point, place in enumerate(places, start=1):
        if place != "call" or (point + first) % every == 0:
            yield point, place
