"""A store that dies: an exception at a random call inside a transaction, or just after its commit.

The caller does what a restarted process does: it starts again. What had not been committed is gone,
what had been committed stands although nobody heard of it.
"""

import random
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from scheduler.store.protocol import Reader, Store, Transaction


class Crash(Exception):
    """The process died here."""


class FaultyStore:
    """Passes everything on to a store, until it dies.

    Args:
        rate: the chance that a transaction dies at one of its calls.
        after_commit: whether it may also die when the commit is done and unheard of.
    """

    def __init__(self, store: Store, dice: random.Random, rate: float, *, after_commit: bool) -> None:
        self.store = store
        self.crashes = 0
        self._dice = dice
        self._rate = rate
        self._after_commit = after_commit
        self._calls_left: int | None = None

    def reading(self) -> AbstractContextManager[Reader]:
        return self.store.reading()

    @contextmanager
    def transaction(self) -> Generator[Any]:
        self._calls_left = self._dice.randint(1, 12) if self._dice.random() < self._rate else None
        with self.store.transaction() as transaction:
            yield _FaultyTransaction(transaction, self)
        if self._after_commit and self._dice.random() < self._rate / 2:
            self._die()

    def close(self) -> None:
        self.store.close()

    def dump(self) -> Any:
        return self.store.dump()  # pyright: ignore[reportAttributeAccessIssue] - the tested ones have it

    def called(self) -> None:
        """Count a call; the last one that is left kills."""
        if self._calls_left is not None:
            self._calls_left -= 1
            if self._calls_left == 0:
                self._calls_left = None
                self._die()

    def _die(self) -> None:
        self.crashes += 1
        raise Crash


class _FaultyTransaction:
    def __init__(self, transaction: Transaction, store: FaultyStore) -> None:
        self._transaction = transaction
        self._store = store

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._transaction, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            # Before or after the call makes a difference in the transaction, and none once it is rolled back.
            self._store.called()
            return found(*args, **kwargs)

        return call
