"""Poll: which of the operations that may start are started, in which order (docs/maintenance.md). Pure."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Literal

import msgspec

from tidegate.domain.model import Budget, Maintenance, Operation
from tidegate.domain.model.maintenance import ORDER
from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.decision.maintenance.judge import Judged
from tidegate.scheduler.model.reason import Reason


class Spent(Value, kw_only=True):
    """What counts against the budgets of a poll.

    Attributes:
        tables: with a start since the poll, those by hand included.
        operations: number of such starts.
        bytes: that were rewritten in this hour.
    """

    tables: frozenset[str] = frozenset()
    operations: int = 0
    bytes: int = 0


class Busy(Value, kw_only=True):
    """What pipelines write of a table.

    Attributes:
        keys: the partitions that waiting and running jobs write.
        known: those of them that the table has.
        free: whether any partition is left.
        jobs: the jobs that write them.
    """

    keys: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    free: bool = True
    jobs: tuple[str, ...] = ()


FREE = Busy()

IN_LINE = (Reason.M_BUDGET, Reason.W_CONCURRENCY)
"""Reasons of what only waits for its turn. Of the operations of a table that wait so, a poll looks at the
first one alone; at those behind it when that one waits so no longer (`tick.maintenance.look`)."""


class Polled(Value, kw_only=True):
    """The result of a poll for one operation.

    Attributes:
        judged: with the reason and times as they are after the poll; a start has no reason.
        starts: whether it is started.
        busy: what its run leaves out.
    """

    judged: Judged
    starts: bool = False
    busy: Busy = FREE


def decide_poll(
    judged: Iterable[Judged],
    debts: Mapping[str, float],
    busy: Mapping[str, Busy],
    spent: Spent,
    slots: Mapping[str, int],
    settings: Maintenance,
    now: datetime,
    *,
    start: bool = True,
) -> tuple[Polled, ...]:
    """Decide what one poll starts.

    Args:
        judged: the verdicts on all operations that it looks at.
        debts: by table, for the order.
        busy: by table that is a dataset, if one of its `rewrite_data_files` may start.
        slots: the number of free slots of each of the `auto_pools`.
        start: whether it starts anything; otherwise it only says what holds each of them back.

    Returns:
        The given verdicts as they are after the poll: starts in their order, then the others.
    """
    settled = [_with_busy(each, busy.get(each.asked.table.name, FREE)) for each in judged]
    candidates: dict[str, list[Polled]] = {}
    for each in settled:
        if each.judged.due and each.judged.reason is None:
            candidates.setdefault(each.judged.asked.table.name, []).append(each)
    others = [each for each in settled if not each.judged.due or each.judged.reason is not None]
    for each in candidates.values():
        each.sort(key=lambda one: ORDER[one.judged.asked.record.operation])
    order = sorted(
        candidates, key=lambda name: (not candidates[name][0].judged.forced, -debts.get(name, 0.0), name)
    )
    left = _Left(settings, spent, slots, now)
    started: list[Polled] = []
    for name in order:
        first, *rest = candidates[name]
        held = left.hold_back(name)
        if held is not None:
            reason, until = held
            others += [_waiting(first, reason, until, until or first.judged.asked.next_poll)]
            others += [_waiting(each, reason, until, None) for each in rest]
        elif start:
            left.take(name)
            started.append(msgspec.structs.replace(first, starts=True))
            others += [_waiting(each, Reason.M_TABLE, None, None) for each in rest]
        else:
            others += [first, *rest]
    return (*started, *others)


def over(
    budget: Budget, tables: Collection[str], operations: int, bytes: int, table: str
) -> Literal["hour", "poll"] | None:
    """Return which budget lets no further operation of a table start; None if none does.

    Args:
        tables: with a start since the poll.
        operations: number of such starts.
        bytes: that were rewritten in this hour.
    """
    if budget.bytes_per_hour and bytes >= budget.bytes_per_hour:
        return "hour"
    if budget.operations_per_poll and operations >= budget.operations_per_poll:
        return "poll"
    full = budget.tables_per_poll and len(tables) >= budget.tables_per_poll
    return "poll" if full and table not in tables else None


class _Left:
    """The budgets and slots that are left during a poll."""

    def __init__(self, settings: Maintenance, spent: Spent, slots: Mapping[str, int], now: datetime) -> None:
        self._budget: Budget = settings.budget
        self._tables = set(spent.tables)
        self._operations = spent.operations
        self._bytes = spent.bytes
        self._slots = dict(slots)
        self._now = now

    def hold_back(self, table: str) -> tuple[Reason, datetime | None] | None:
        """Return the reason why no further operation is started, and until when; None if one may."""
        spent = over(self._budget, self._tables, self._operations, self._bytes, table)
        if spent is not None:
            return Reason.M_BUDGET, times.next_hour(self._now) if spent == "hour" else None
        if any(free <= 0 for free in self._slots.values()):
            return Reason.W_CONCURRENCY, None
        return None

    def take(self, table: str) -> None:
        """Count a start."""
        self._tables.add(table)
        self._operations += 1
        self._slots = {pool: free - 1 for pool, free in self._slots.items()}


def _with_busy(judged: Judged, busy: Busy) -> Polled:
    operation: Operation = judged.asked.record.operation
    if operation is not Operation.REWRITE_DATA_FILES or not judged.due or judged.reason is not None:
        return Polled(judged=judged)
    if busy.free:
        return Polled(judged=judged, busy=busy)
    held = msgspec.structs.replace(judged, reason=Reason.M_BUSY, next=None, look=judged.asked.next_poll)
    return Polled(judged=held, busy=busy)


def _waiting(polled: Polled, reason: Reason, until: datetime | None, look: datetime | None) -> Polled:
    """Return what a poll leaves to wait; without a known instant M-BUDGET waits for the next poll."""
    shown = polled.judged.asked.next_poll if reason is Reason.M_BUDGET and until is None else until
    judged = msgspec.structs.replace(polled.judged, reason=reason, next=shown, look=look)
    return msgspec.structs.replace(polled, judged=judged)
