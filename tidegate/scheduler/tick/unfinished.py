"""Unfinished: a tick that goes on in another transaction, as it would have gone on in the same one.

    a part of a tick ─► so many decisions ─► commit ─► the next part goes on at the same instant ─► ...

A transaction makes a thousand decisions, so that no other process waits long for the store. Where more
are due at one instant, this must not show: the first part routes the events of the instant, and the due jobs
are judged in pages, by the time at which they were due. What waits for its trigger goes on waiting, as no
other decision of the instant can change that. All others are noted as turns, with their place in the order,
and are decided in it once the last page was judged: only then do jobs take slots, and end. So each decision
sees what it would see in one transaction.

Whatever advances the engine first goes on with what is unfinished: also after a crash, and also a command,
which finishes all of it in its own transaction.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.model.launch_order import TURNS, Turn
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

UNFINISHED = "unfinished"
"""Name of the cursor that holds what a tick has left to the next transaction; None if nothing is left."""

DECISIONS_AT_ONCE = 1_000
"""A part of a tick makes so many decisions, which takes less than half a second."""

END_COSTS = 5
"""The end of an instance costs as much as so many decisions: those that wait for it are woken."""

Place = tuple[datetime, str]
"""When a job was due, and its id."""


class QueueHead(Value, kw_only=True):
    """How far a queue has been decided at an instant; see `scheduler.tick.in_order`."""

    after: str
    more: bool
    pending: int
    missed: int


class Going(Value, kw_only=True):
    """The decisions of an instant, where they are not over.

    Attributes:
        after: due jobs behind this place are still to be judged; None if all were.
        heads: the queues that were woken; None before the first turn.
        operations: due jobs (ids) of operations on tables, which come after the other jobs.
        repaired: jobs (ids) whose repair was launched at the instant, each with that (id).
    """

    after: Place | None = None
    heads: dict[str, QueueHead] | None = None
    operations: tuple[str, ...] = ()
    repaired: dict[str, str] = {}


class Unfinished(Value, kw_only=True):
    """What a tick has left to the next transaction.

    Attributes:
        at: the instant at which it goes on.
        until: up to when it replays.
        instances: of tasks that it may still make.
        going: the decisions of the instant; None between two rounds of them.
        expiring: then it reverts overrides, and advances to this instant; None if it only advanced.
    """

    at: datetime
    until: datetime
    instances: int
    going: Going | None = None
    expiring: datetime | None = None


class Budget:
    """How many decisions a transaction may still make.

    Attributes:
        left: decisions; None for any number.
        is_cut: whether the rest is left to the next transaction.
    """

    def __init__(self, left: int | None = None) -> None:
        self.left = left
        self.is_cut = False

    @property
    def is_spent(self) -> bool:
        return self.left is not None and self.left <= 0

    def spend(self, decisions: int) -> None:
        """Count decisions, and what costs as much."""
        if self.left is not None:
            self.left -= decisions


def unfinished(reader: EngineReader) -> Unfinished | None:
    """Return what the last part of a tick has left; None if nothing is left."""
    stored = reader.cursor(UNFINISHED)
    return None if stored is None else msgspec.convert(stored, Unfinished)


def note_unfinished(transaction: EngineTransaction, left: Unfinished | None) -> None:
    """Leave the rest of a tick to the next transaction; None for nothing."""
    transaction.set_cursor(UNFINISHED, None if left is None else msgspec.to_builtins(left))


class Turns:
    """The turns of the instant that is decided, in the store."""

    def __init__(self, transaction: EngineTransaction) -> None:
        self._transaction = transaction

    def take(self, at: datetime, limit: int) -> tuple[Turn, ...]:
        """Remove and return the first turns of an instant."""
        taken = self._transaction.due_records(TURNS, at, limit)
        self._transaction.drop_records(TURNS, [each.job for each in taken])
        return taken

    def among(self, jobs: Collection[str]) -> set[str]:
        """Return those of some jobs (ids) whose turn is still to come."""
        return {each.job for each in self._transaction.records(TURNS, job=jobs)}

    def put(self, turns: Sequence[Turn]) -> None:
        """Put jobs aside."""
        self._transaction.put_records(TURNS, turns)
