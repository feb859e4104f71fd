"""Handles: a database that two schedulers have open. They take turns, and are started again at times."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction, Store

SCHEDULERS = 2
LASTS = 37
"""Transactions after which the process of a scheduler ends, and another one comes in its place."""


class Handles:
    """A store each of whose transactions is that of the next scheduler.

    Attributes:
        opened: how often the store was opened.
    """

    def __init__(self, open: Callable[[], Store]) -> None:
        self._open = open
        self._handles = [open() for _ in range(SCHEDULERS)]
        self._turns = 0
        self.opened = SCHEDULERS

    def reading(self) -> AbstractContextManager[EngineReader]:
        return self._handles[self._turns % SCHEDULERS].reading()

    def transaction(self) -> AbstractContextManager[EngineTransaction]:
        self._turns += 1
        place = self._turns % SCHEDULERS
        if self._turns % LASTS == 0:
            self._handles[place].close()
            self._handles[place] = self._open()
            self.opened += 1
        return self._handles[place].transaction()

    def close(self) -> None:
        """Close all handles."""
        for handle in self._handles:
            handle.close()
