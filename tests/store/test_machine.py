"""Whatever is called, committed and rolled back, every store says and holds what the one in memory does.

A machine that Hypothesis drives: transactions begin, do a few things and end, well or badly, while readers
look on and the store is closed and opened again. After each step both stores tell all they hold,
and it is the same; an open transaction is asked everything, and so is each reader. An ordinary run plays
short histories, a soak also long ones.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.doubles.dump import dump
from tests.doubles.quick_sqlite import quick_sqlite, wipe
from tests.doubles.reference.store import ReferenceStore
from tests.effort import much
from tests.store.drawn.drawn import DRAWN, Call, answers, calls
from tests.worlds.samples import at
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.scheduler.store.upkeep import UpkeepTransaction

PHASES = tuple(phase for phase in Phase if phase is not Phase.shrink)
"""A failing history is not made shorter: that takes minutes, and its calls are printed one by one."""

READERS = 2
"""Readers that may look on at once."""


class Boom(Exception):
    """What a transaction ends badly with."""


class StoreMachine(RuleBasedStateMachine):
    """A tested store beside the one in memory."""

    def __init__(self, open_store: Callable[[], SqlStore]) -> None:
        super().__init__()
        self._open_store = open_store
        self.model, self.tested = ReferenceStore(), open_store()
        wipe(self.tested)
        self.transactions: list[tuple[AbstractContextManager[EngineTransaction], EngineTransaction]] = []
        self.readers: list[tuple[list[AbstractContextManager[EngineReader]], EngineReader, Any]] = []

    @property
    def stores(self) -> tuple[Store, Store]:
        return self.model, self.tested

    @rule(called=st.lists(calls, min_size=2, max_size=8))
    def do(self, called: list[Call]) -> None:
        if not self.transactions:
            for store in self.stores:
                context = store.transaction()
                self.transactions.append((context, context.__enter__()))
        (_, model), (_, tested) = self.transactions
        for call in called:
            assert call(tested) == call(model), call
        assert answers(tested, at(2)) == answers(model, at(2))

    @precondition(lambda self: self.transactions)
    @rule()
    def commit(self) -> None:
        for context, _ in self.transactions:
            context.__exit__(None, None, None)
        self.transactions.clear()

    @precondition(lambda self: self.transactions)
    @rule()
    def go_wrong(self) -> None:
        for context, _ in self.transactions:
            assert not context.__exit__(Boom, Boom(), None)
        self.transactions.clear()

    @precondition(lambda self: len(self.readers) < READERS)
    @rule()
    def look(self) -> None:
        """A reader that begins now sees this state for as long as it looks."""
        contexts = [store.reading() for store in self.stores]
        model, tested = [context.__enter__() for context in contexts]
        seen = answers(model, at(2))
        assert answers(tested, at(2)) == seen
        self.readers.append((contexts, tested, seen))

    @precondition(lambda self: self.readers)
    @rule()
    def look_away(self) -> None:
        contexts, tested, seen = self.readers.pop(0)
        assert answers(tested, at(2)) == seen
        for context in contexts:
            context.__exit__(None, None, None)

    @precondition(lambda self: not self.transactions and not self.readers)
    @rule()
    def open_again(self) -> None:
        self.tested.close()
        self.tested = self._open_store()

    @invariant()
    def both_hold_the_same(self) -> None:
        assert dump(self.tested) == dump(self.model)

    def teardown(self) -> None:
        while self.readers:
            self.look_away()
        if self.transactions:
            self.go_wrong()
        self.tested.close()


def test_every_method_of_a_transaction_is_drawn() -> None:
    asked = {name for name in dir(ListingReader) if not name.startswith("_")}
    methods = {name for name in dir(UpkeepTransaction) if not name.startswith("_")}
    assert methods - asked == DRAWN.keys()


def run_machine(open_store: Callable[[], SqlStore], *, examples: int, steps: int) -> None:
    run_state_machine_as_test(
        lambda: StoreMachine(open_store),
        settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None, phases=PHASES),
    )


@pytest.mark.hypothesis
def test_sqlite_agrees_with_memory_at_every_step(tmp_path: Path) -> None:
    run_machine(lambda: quick_sqlite(tmp_path), examples=much(5), steps=20)


@pytest.mark.hypothesis
@pytest.mark.soak
@pytest.mark.endurance  # dozens of histories of forty steps, each with two whole dumps
def test_sqlite_agrees_with_memory_in_long_histories(tmp_path: Path) -> None:
    run_machine(lambda: quick_sqlite(tmp_path), examples=much(2), steps=40)


@pytest.mark.store
@pytest.mark.endurance  # a soak plays more of them
def test_postgres_agrees_with_memory_at_every_step(postgres_url: str) -> None:
    run_machine(lambda: open_sql_store(postgres_url), examples=much(1), steps=25)
