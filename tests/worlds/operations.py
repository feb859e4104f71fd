"""Values for the tests of maintenance: an operation, its record and its table, as far as a test names them.

Times are written as on a clock of Tuesday 2026-03-10 in UTC, see `tests.worlds.world.at`.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec

from tests.worlds.world import at
from tidegate.domain.maintenance.measures import HEALTHY
from tidegate.domain.model import Conditions, Maintenance, Operation, OperationPlan, Threshold
from tidegate.scheduler.decision.maintenance.judge import Asked, Judged, judge
from tidegate.scheduler.model.maintenance import (
    Ending,
    Health,
    OperationHistory,
    OperationRun,
    Record,
    TableHistory,
    TableState,
)

REWRITE = Operation.REWRITE_DATA_FILES
MANIFESTS = Operation.REWRITE_MANIFESTS
EXPIRE = Operation.EXPIRE_SNAPSHOTS
ORPHANS = Operation.REMOVE_ORPHAN_FILES

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def plan(operation: Operation = REWRITE, **what: Any) -> OperationPlan:
    """What a policy says of an operation."""
    return OperationPlan(operation=operation, **what)


def when(
    mode: Any = "any", min_interval: Any = None, at_latest: Any = None, **thresholds: float
) -> Conditions:
    """The `when` of an operation; thresholds by measure."""
    return Conditions(
        mode=mode,
        min_interval=min_interval,
        at_latest=at_latest,
        thresholds=tuple(Threshold(measure=name, at_least=limit) for name, limit in thresholds.items()),
    )


def health(clock: str = "10:00", failure: str = "", **values: float) -> Health:
    """What was measured: what is not named is healthy."""
    return Health(measured_at=at(clock), values={} if failure else {**HEALTHY, **values}, failure=failure)


def run(ending: Ending, start: str, end: str | None = None, operation: Operation = REWRITE, **what: Any):
    """A run of an operation that has ended; half an hour later without an end."""
    return OperationRun(
        job="j",
        table="w.a.x",
        operation=operation,
        policy="a/p",
        started_at=at(start),
        closes_at=at(start) + 4 * HOUR,
        ended_at=at(start) + HOUR / 2 if end is None else at(end),
        ending=ending,
        **what,
    )


def table(
    name: str = "w.a.x",
    health: Health | None = None,
    histories: Mapping[Operation, OperationHistory] | None = None,
    **what: Any,
) -> TableState:
    """A table, with what is known of its operations."""
    history = TableHistory(operations=dict(histories or {}))
    return TableState(name=name, catalog_name=name, health=health, history=history, **what)


def asked(
    of: OperationPlan | None = None,
    on: TableState | None = None,
    settings: Maintenance | None = None,
    *,
    running: bool = False,
    next_poll: str = "10:01",
    **record: Any,
) -> Asked:
    """An operation that is to be judged; it has never run, and its policy has seen the table at midnight."""
    chosen, state = of or plan(), on or table()
    known = Record(policy="a/p", operation=chosen.operation, table=state.name, seen_at=at("00:00"))
    return Asked(
        record=msgspec.structs.replace(known, **record),
        plan=chosen,
        table=state,
        settings=settings or Maintenance(),
        running=running,
        next_poll=at(next_poll),
    )


def judged(clock: str, of: OperationPlan | None = None, on: TableState | None = None, **rest: Any) -> Judged:
    """The verdict on an operation at an instant."""
    return judge(asked(of, on, **rest), at(clock))
