"""Planned: what the next polls would start if nothing else happened, and what holds the rest back.

It decides with the code of a poll. A table that would have to be measured first waits for one poll; then
what was measured last counts, since a plan measures nothing. Operations that were started go on for all
polls shown.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, cast

import msgspec

from tidegate.domain.model import Operation
from tidegate.domain.value import Value
from tidegate.scheduler.decision.maintenance.poll import Polled, decide_poll
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.maintenance import (
    MAINTAINED_TABLES,
    MAINTENANCE_RECORDS,
    Health,
    Record,
    TableState,
)
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.maintenance.look import Looked, look
from tidegate.scheduler.tick.maintenance.policies import load_policies


class PlannedStart(Value, kw_only=True):
    """One operation that a poll would start.

    Attributes:
        table, operation: which.
        forced: `at_latest` has come.
        probe: it would be the one attempt after a throttle.
        policy: "app/policy".
        debt: by which the starts are ordered.
        excluded: keys of the partitions that it would leave out.
        measured_at: of the health that it was decided by; None if nothing is known of the table.
    """

    table: str
    operation: Operation
    policy: str
    debt: float
    forced: bool = False
    probe: bool = False
    excluded: tuple[str, ...] = ()
    measured_at: datetime | None = None


class PlannedPoll(Value, kw_only=True):
    """One poll.

    Attributes:
        at: when.
        starts: in their order.
        held_back: the number of due operations that wait, by reason code.
    """

    at: datetime
    starts: tuple[PlannedStart, ...] = ()
    held_back: dict[str, int] = {}


def planned_polls(
    reader: EngineReader, now: datetime, polls: int, shown: Collection[str] | None = None
) -> tuple[PlannedPoll, ...]:
    """Return what the next polls would do.

    Args:
        shown: only with these tables; the others take their turn all the same. None: all.
    """
    policies = load_policies(reader, now)
    records: list[Record] = [record for record in reader.records(MAINTENANCE_RECORDS) if record.counts]
    found: list[PlannedPoll] = []
    measured: set[str] = set()
    goes_on: list[str] = []
    instant = now
    for _ in range(polls):
        instant = policies.poll_from(instant)
        rows = cast("EngineReader", _Measured(reader, measured, instant))
        due = [record for record in records if record.next_run is None or record.next_run <= instant]
        looked = look(rows, policies, due, instant)
        slots = {pool: max(free - len(goes_on), 0) for pool, free in looked.slots.items()}
        rooms = looked.rooms
        for each in goes_on:
            rooms = rooms.after(each)
        polled = decide_poll(
            looked.judged,
            looked.debts,
            looked.busy,
            looked.spent,
            slots,
            policies.settings,
            instant,
            rooms=rooms,
        )
        found.append(_planned(reader, looked, _shown(polled, shown), instant))
        taken = {each.judged.asked.record.table for each in polled if each.starts}
        measured |= {each.asked.table.name for each in looked.judged if each.wants_health}
        records = [record for record in records if record.table not in taken]
        goes_on += [each.judged.asked.record.policy for each in polled if each.starts]
        policies = msgspec.structs.replace(policies, last=instant)
    return tuple(found)


def _shown(polled: tuple[Polled, ...], shown: Collection[str] | None) -> tuple[Polled, ...]:
    return tuple(each for each in polled if shown is None or each.judged.asked.table.name in shown)


def _planned(
    reader: EngineReader, looked: Looked, polled: tuple[Polled, ...], instant: datetime
) -> PlannedPoll:
    waiting = Counter(
        str(each.judged.reason)
        for each in polled
        if not each.starts and each.judged.due and each.judged.reason is not None
    )
    starts = [each for each in polled if each.starts]
    names = {each.judged.asked.table.name for each in starts}
    tables = {table.name: table for table in reader.records(MAINTAINED_TABLES, name=names)}
    return PlannedPoll(
        at=instant,
        starts=tuple(_start(looked, each, tables) for each in starts),
        held_back=dict(sorted(waiting.items())),
    )


def _start(looked: Looked, polled: Polled, tables: Mapping[str, TableState]) -> PlannedStart:
    record = polled.judged.asked.record
    table = tables[record.table]
    health = table.health
    return PlannedStart(
        table=table.name,
        operation=record.operation,
        policy=record.policy,
        debt=looked.debts.get(table.name, 0.0),
        forced=polled.judged.reports_forced,
        probe=polled.judged.probe,
        excluded=polled.busy.known,
        measured_at=None if health is None or health.failure else health.measured_at,
    )


class _Measured:
    """A store in which some tables have just been measured, with the values that were measured last.

    One of which nothing is known counts as one that could not be measured.
    """

    def __init__(self, reader: EngineReader, names: Collection[str], now: datetime) -> None:
        self._reader = reader
        self._names = names
        self._unknown = Health(measured_at=now, failure="not measured yet")
        self._now = now

    def records(self, kind: Kind[Any], /, **among: Collection[str] | None) -> tuple[Any, ...]:
        """Return records; of tables with what was measured."""
        found = self._reader.records(kind, **among)
        if kind.name != MAINTAINED_TABLES.name:
            return found
        return tuple(self._measured(table) if table.name in self._names else table for table in found)

    def _measured(self, table: TableState) -> TableState:
        health = msgspec.structs.replace(table.health or self._unknown, measured_at=self._now)
        return msgspec.structs.replace(table, health=health)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)
