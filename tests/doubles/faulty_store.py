"""A store that fails: at any call or SQL statement of a transaction, at its commit, or just after it.

Two sorts of failure. A crash is the death of the process: nothing can catch it, the caller begins
again like a restarted process. An error is what a database says whose server went away; said at
the commit, no process knows whether it was done. What was not committed is gone, what was committed
stays although no process heard of it.

SQLAlchemy is loaded for a store in SQL only: hunts for planted bugs are short processes with one in memory.
"""

import random
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal

from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.store.protocol import EngineTransaction, Store

Place = Literal["call", "commit", "committed"]


class Crash(BaseException):
    """The process died here. Like SIGKILL it passes every handler."""


FAILURES = (Crash, StoreError)
"""What a caller meets, and begins again after."""


class FaultyStore:
    """Passes everything on to a store, until it fails.

    Every call in a transaction (statement, where the store is in SQL), every commit and every
    moment after one is a point, and points are counted from 1.

    Args:
        rate: the chance that a transaction fails.
        after_commit: whether it may also fail when the commit is done and unheard of.
        calls: how far into a transaction it fails at most.

    Attributes:
        crashes: how often the process has died, and `errors` how often the database has failed.
        points: how many points were passed.
        fail_at: the point at which it fails next.
        places: what sort of point each was, if it is a list.
    """

    def __init__(
        self,
        store: Store,
        dice: random.Random | None = None,
        rate: float = 0.0,
        *,
        after_commit: bool = False,
        calls: int = 14,
    ) -> None:
        self.store = store
        self.crashes = 0
        self.errors = 0
        self.points = 0
        self.fail_at: int | None = None
        self.places: list[Place] | None = None
        self._dice = dice or random.Random(0)
        self._rate = rate
        self._after_commit = after_commit
        self._most_calls = calls
        self._inside = False
        self._dies = True
        self._engine: Any = getattr(store, "engine", None)
        if self._engine is not None:
            from sqlalchemy import event

            event.listen(self._engine, "before_cursor_execute", self._statement)

    def release(self) -> None:
        """Leave the store alone; another one may be put around it."""
        if self._engine is not None:
            from sqlalchemy import event

            event.remove(self._engine, "before_cursor_execute", self._statement)

    def reading(self) -> AbstractContextManager[EngineReader]:
        return self.store.reading()

    @contextmanager
    def transaction(self) -> Generator[Any]:
        fated = self._throw()
        self._inside = True
        try:
            with self.store.transaction() as transaction:
                yield transaction if self._engine is not None else _FaultyTransaction(transaction, self)
                # The commit itself is not a statement of ours.
                self._inside = False
                self.pass_point("commit", fails=fated == "commit")
        finally:
            self._inside = False
            if fated == "call":
                self.fail_at = None
        self.pass_point("committed", fails=fated == "committed")

    def close(self) -> None:
        self.store.close()

    def pass_point(self, place: Place, *, fails: bool = False) -> None:
        """Count a point, and fail where that is due."""
        self.points += 1
        if self.places is not None:
            self.places.append(place)
        if fails or self.points == self.fail_at:
            self._fail()

    def _throw(self) -> Place | None:
        """Whether, where and how the transaction that begins now is to fail."""
        dice = self._dice
        if dice.random() >= self._rate:
            return None
        self._dies = dice.random() < 0.9
        place: Place = dice.choices(("call", "commit", "committed"), (8, 1, 1))[0]
        if place == "committed" and not self._after_commit:
            place = "commit"
        if place == "call":
            self.fail_at = self.points + dice.randint(1, self._most_calls)
        return place

    def _statement(self, *_: Any) -> None:
        if self._inside:
            self.pass_point("call")

    def _fail(self) -> None:
        self.fail_at = None
        self._inside = False
        if self._dies:
            self.crashes += 1
            raise Crash
        self.errors += 1
        raise StoreError("the server closed the connection", "try again")


class _FaultyTransaction:
    def __init__(self, transaction: EngineTransaction, store: FaultyStore) -> None:
        self._transaction = transaction
        self._store = store

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._transaction, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            # Before or after the call makes a difference in the transaction, and none once it is rolled back.
            self._store.pass_point("call")
            return found(*args, **kwargs)

        return call
