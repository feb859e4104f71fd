"""A tick decides so much in a transaction only, and goes on in the next one: this changes no outcome.

The same inputs are played twice: with ticks that decide all in one transaction, and with parts of one to
three decisions. All tables must be equal to the letter; entries of the journal of one instant are compared
in any order, and the launches in theirs. Some ticks also stop after any of their parts, as a process that was
killed: then what comes next, a tick of another process, a command or an observation, finishes them first.
"""

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from unittest.mock import patch

import pytest

from tests.doubles.dump import dump
from tests.effort import much
from tests.simulation import hands
from tests.simulation.paced import every, played
from tests.simulation.tasks.world import history
from tests.simulation.test_wake_ups import limited
from tests.tally import reach
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.tick import tick as tick_module
from tidegate.scheduler.tick.instant import TickReport
from tidegate.scheduler.tick.unfinished import Budget, Unfinished, note_unfinished

pytestmark = pytest.mark.slow  # whole histories

LAUNCHES = (EntryKind.LAUNCH, EntryKind.SLOTS_TAKEN)


def outcome(store: Store) -> Mapping[str, Any]:
    """All that a store holds, but cursors; see above for the journal."""
    tables = dict(dump(store))
    del tables["cursors"]
    with store.reading() as reader:
        launches = [(entry.at, entry.job) for entry in reader.journal(kinds=LAUNCHES)]
    # That late data has landed is noted at the end of a working set; its row says when it landed.
    entries = [each | {"at": ""} if each["kind"] == "landed" else each for each in tables["journal"]]
    tables["journal"] = sorted(entries, key=lambda each: (each["at"], str(each)))
    return tables | {"launches": launches}


@contextmanager
def in_parts(seed: int) -> Iterator[Counter[str]]:
    """Ticks whose parts make one to three decisions; count what they leave to the next part."""
    dice, left = random.Random(seed), Counter[str]()

    class Few(Budget):
        def __init__(self, decisions: int | None = None) -> None:
            super().__init__(None if decisions is None else dice.randint(1, 3))

    def note(transaction: EngineTransaction, rest: Unfinished | None) -> None:
        if rest is not None:
            going = rest.going
            left["instants" if going is None else "pages" if going.heads is None else "turns"] += 1
        note_unfinished(transaction, rest)

    with patch.object(tick_module, "Budget", Few), patch.object(tick_module, "note_unfinished", note):
        yield left


@contextmanager
def killed_between_parts(seed: int) -> Iterator[Counter[str]]:
    """Ticks of which each second one may stop after any of its parts."""
    dice, stopped = random.Random(seed), Counter[str]()
    whole = False

    def tick(store: Store, now: datetime) -> TickReport:
        nonlocal whole
        parts = 1_000_000 if whole else dice.randint(1, 4)
        whole = not whole

        def goes_on(transaction: EngineTransaction) -> bool:
            nonlocal parts
            parts -= 1
            stopped["stopped"] += parts == 0 and transaction.cursor("unfinished") is not None
            return parts > 0

        return tick_module.tick(store, now, goes_on)

    with patch.object(hands, "tick", tick):
        yield stopped


@pytest.mark.parametrize("seed", range(much(2)))
def test_schedules_of_chance(seed: int) -> None:
    whole = outcome(played(seed, every(60)))
    with in_parts(seed) as left:
        assert outcome(played(seed, every(60))) == whole
    assert left["instants"]
    reach("histories in parts")


@pytest.mark.parametrize("seed", range(much(2)))
def test_queues_of_shared_limits(seed: int) -> None:
    whole = outcome(limited(seed))
    with in_parts(seed) as left:
        assert outcome(limited(seed)) == whole
    assert left["turns"] and left["pages"]
    reach("histories in parts")


@pytest.mark.parametrize("seed", range(much(3)))
def test_tasks_of_chance(seed: int) -> None:
    def instances() -> Mapping[str, Any]:
        return outcome(history(MemoryStore(), seed, changes=True, landed=seed % 2 == 0).store)

    whole = instances()
    with in_parts(seed) as left:
        assert instances() == whole
    assert left["turns"] and left["pages"]
    reach("histories in parts")


@pytest.mark.parametrize("seed", range(much(2)))
def test_whatever_comes_after_a_tick_that_was_killed_finishes_it(seed: int) -> None:
    whole = outcome(played(seed, every(420)))
    with in_parts(seed), killed_between_parts(seed) as stopped:
        assert outcome(played(seed, every(420))) == whole
    assert stopped["stopped"] > 2
    reach("histories in parts")
