"""Poll: which of the operations that may start are started, in which order (docs/maintenance.md). Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from tidegate.domain.model import Budget, Maintenance
from tidegate.domain.model.operation import ORDER
from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance import times
from tidegate.scheduler.decision.maintenance.judge import Judged
from tidegate.scheduler.decision.maintenance.times import IN_LINE
from tidegate.scheduler.model.places import ANY_NUMBER, Rooms
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
    rooms: Rooms = ANY_NUMBER,
    start: bool = True,
) -> tuple[Polled, ...]:
    """Decide what one poll starts.

    Args:
        judged: the verdicts on all operations that it looks at.
        debts: by table, for the order.
        busy: by table that is a dataset, if an operation that rewrites its data may start.
        slots: the number of free slots of each of the `auto_pools`.
        rooms: how many operations may begin beside the pipelines.
        start: whether it starts anything; otherwise it only says what holds each of them back.

    Returns:
        The given verdicts as they are after the poll: starts in their order, then the others.
    """
    settled = [_with_busy(_in_places(each, rooms), busy.get(each.asked.table.name, FREE)) for each in judged]
    candidates: dict[str, list[Polled]] = {}
    for each in settled:
        if each.judged.due and each.judged.reason is None:
            candidates.setdefault(each.judged.asked.table.name, []).append(each)
    others = [each for each in settled if not each.judged.due or each.judged.reason is not None]
    for each in candidates.values():
        each.sort(key=lambda one: ORDER[one.judged.asked.record.operation])
    # What is being measured comes last where its turn depends on the order (decision.maintenance.line).
    policies = {name: first.judged.asked.record.policy for name, (first, *_) in candidates.items()}
    scarce = _is_scarce(_Left(settings, spent, slots, rooms, now), policies)
    unranked = {name for name, (first, *_) in candidates.items() if scarce and first.judged.unranked}

    def place(name: str) -> tuple[bool, bool, float, str]:
        forced = candidates[name][0].judged.forced
        return not forced, name in unranked, -debts.get(name, 0.0), name

    left = _Left(settings, spent, slots, rooms, now)
    started: list[Polled] = []
    for name in sorted(candidates, key=place):
        first, *rest = candidates[name]
        held = left.hold_back(name, policies[name])
        if held is None and name in unranked:
            others += _measured_first(first, rest)
        elif held is not None:
            reason, until = held
            others += [_waiting(first, reason, until, until or first.judged.asked.next_poll)]
            others += [_waiting(each, reason, until, None) for each in rest]
        elif start:
            left.take(name, policies[name])
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

    def __init__(
        self, settings: Maintenance, spent: Spent, slots: Mapping[str, int], rooms: Rooms, now: datetime
    ) -> None:
        self._budget: Budget = settings.budget
        self._tables = set(spent.tables)
        self._operations = spent.operations
        self._bytes = spent.bytes
        self._slots = dict(slots)
        self._rooms = rooms
        self._now = now

    def hold_back(self, table: str, policy: str) -> tuple[Reason, datetime | None] | None:
        """Return the reason why no further operation is started, and until when; None if one may."""
        spent = over(self._budget, self._tables, self._operations, self._bytes, table)
        if spent is not None:
            return Reason.M_BUDGET, times.next_hour(self._now) if spent == "hour" else None
        if self._rooms.full(policy):
            return Reason.M_PLACES, None
        if any(free <= 0 for free in self._slots.values()):
            return Reason.W_CONCURRENCY, None
        return None

    def take(self, table: str, policy: str) -> None:
        """Count a start."""
        self._tables.add(table)
        self._operations += 1
        self._slots = {pool: free - 1 for pool, free in self._slots.items()}
        self._rooms = self._rooms.after(policy)


def _is_scarce(left: _Left, policies: Mapping[str, str]) -> bool:
    """Return whether a poll cannot start an operation on each of some tables, so that their order decides.

    Args:
        policies: of the first operation of each table.
    """
    for name, policy in policies.items():
        if left.hold_back(name, policy) is not None:
            return True
        left.take(name, policy)
    return False


def _measured_first(first: Polled, rest: Sequence[Polled]) -> list[Polled]:
    """Return the operations of a table that is being measured; those that were in line are in it still."""
    reasons = [each.judged.asked.record.reason for each in (first, *rest)]
    before, soon = next((each for each in reasons if each in IN_LINE), None), first.judged.asked.next_poll
    if before is not None:
        return [_waiting(first, before, None, soon), *(_waiting(each, before, None, None) for each in rest)]
    return [_waiting(each, Reason.M_HEALTH, None, soon) for each in (first, *rest)]


def _in_places(judged: Judged, rooms: Rooms) -> Judged:
    """Return what waits for a measurement that has no place: it waits for a place."""
    if judged.reason is not Reason.M_HEALTH or not judged.wants_health:
        return judged
    full = rooms.full(judged.asked.record.policy)
    return msgspec.structs.replace(judged, reason=Reason.M_PLACES) if full else judged


def _with_busy(judged: Judged, busy: Busy) -> Polled:
    if not judged.asked.record.operation.rewrites_data or not judged.due or judged.reason is not None:
        return Polled(judged=judged)
    if busy.free:
        return Polled(judged=judged, busy=busy)
    held = msgspec.structs.replace(judged, reason=Reason.M_BUSY, next=None, look=judged.asked.next_poll)
    return Polled(judged=held, busy=busy)


def _waiting(polled: Polled, reason: Reason, until: datetime | None, look: datetime | None) -> Polled:
    """Return what a poll leaves to wait; without a known instant a poll's budget and measures are shown with
    the next poll."""
    by_poll = until is None and reason in (Reason.M_BUDGET, Reason.M_HEALTH, Reason.M_PLACES)
    shown = polled.judged.asked.next_poll if by_poll else until
    judged = msgspec.structs.replace(polled.judged, reason=reason, next=shown, look=look)
    return msgspec.structs.replace(polled, judged=judged)
